import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { runsQuery } from "../../api/queries";
import type { RunListed } from "../../api/types";
import { shortened, shortTime, usd } from "../../kit/format";
import { sayCount, sayValue, useWords } from "../../kit/i18n";
import { Button, Empty, ErrorNote, Loading, PageTitle, SELECT, StateBadge } from "../../kit/parts";
import { waitingWords } from "./waiting";

const route = getRouteApi("/runs");
const STATES = [
  "INIT",
  "PLANNING",
  "EXECUTING",
  "REVIEWING",
  "WAITING",
  "PAUSED",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
];

/** All runs, newest first; two of them can be compared. */
export function RunsPage() {
  const say = useWords();
  const search = route.useSearch();
  const navigate = useNavigate();
  const runs = useQuery(runsQuery(search));
  const [chosen, setChosen] = useState<string[]>([]);
  const choose = (runId: string) =>
    setChosen(chosen.includes(runId) ? chosen.filter((one) => one !== runId) : [...chosen, runId].slice(-2));
  const [left, right] = chosen;
  return (
    <>
      <PageTitle
        aside={
          <div className="flex gap-2">
            <select
              className={SELECT}
              aria-label={say("runs.state")}
              value={search.state ?? ""}
              onChange={(change) =>
                void navigate({ to: "/runs", search: { ...search, state: change.target.value || undefined } })
              }
            >
              <option value="">{say("runs.anyState")}</option>
              {STATES.map((state) => (
                <option key={state} value={state}>
                  {sayValue("state", state)}
                </option>
              ))}
            </select>
            <Button
              disabled={!left || !right}
              onClick={() =>
                left && right && void navigate({ to: "/compare/$left/$right", params: { left, right } })
              }
            >
              {say("runs.compare")}
            </Button>
          </div>
        }
      >
        {say("nav.runs")}
      </PageTitle>
      {runs.error ? <ErrorNote error={runs.error} onRetry={() => void runs.refetch()} /> : null}
      {runs.isPending ? <Loading /> : null}
      {runs.data?.runs.length === 0 ? (
        <Empty title={say("runs.empty")}>
          <Link to="/" className="text-accent underline">
            {say("runs.emptyHint")}
          </Link>
        </Empty>
      ) : null}
      <ul className="space-y-2">
        {runs.data?.runs.map((run) => (
          <RunItem
            key={run.run_id}
            run={run}
            isChosen={chosen.includes(run.run_id)}
            onChoose={() => choose(run.run_id)}
          />
        ))}
      </ul>
    </>
  );
}

function RunItem({ run, isChosen, onChoose }: { run: RunListed; isChosen: boolean; onChoose: () => void }) {
  const say = useWords();
  return (
    <li className="flex items-start gap-3 rounded-lg border border-line bg-card p-3">
      <input
        type="checkbox"
        className="mt-1"
        checked={isChosen}
        onChange={onChoose}
        aria-label={say("runs.choose", { input: shortened(run.input, 60) })}
      />
      <div className="min-w-0 flex-1">
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className="font-medium hover:underline">
          {shortened(run.input, 160) || run.run_id}
        </Link>
        <p className="text-faint text-sm">
          {run.task} · {shortTime(run.started_at)} · {sayCount("count.step", "count.steps", run.steps)} ·{" "}
          {sayCount("count.token", "count.tokens", run.tokens)}
          {run.cost_usd ? ` · ${usd(run.cost_usd)}` : ""}
        </p>
        {run.waiting_for.map((what) => (
          <p key={what} className="text-sm text-warn">
            {waitingWords(what)}
          </p>
        ))}
        {run.error ? <p className="text-bad text-sm">{run.error.detail}</p> : null}
      </div>
      <StateBadge kind="state" value={run.state} outcome={run.outcome} />
    </li>
  );
}
