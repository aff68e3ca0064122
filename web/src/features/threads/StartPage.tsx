import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { runsQuery } from "../../api/queries";
import type { RunListed } from "../../api/types";
import { ForWriters, ReadOnly } from "../../kit/ForWriters";
import { shortened, shortTime } from "../../kit/format";
import { useWords, type Word } from "../../kit/i18n";
import { Card, ErrorNote, PageTitle, StateBadge } from "../../kit/parts";
import { needsPerson, waitingWords } from "../runs/waiting";
import { Composer } from "./Composer";

/** Where a person begins: ask for something, and see at once what waits, what failed and what is at work. */
export function StartPage() {
  const say = useWords();
  const navigate = useNavigate();
  const runs = useQuery(runsQuery());
  const listed = runs.data?.runs ?? [];
  return (
    <div className="mx-auto max-w-3xl">
      <PageTitle>{say("start.title")}</PageTitle>
      <div className="mb-6">
        <ForWriters instead={<ReadOnly />}>
          <Card>
            <Composer
              onStarted={(run) => void navigate({ to: "/runs/$runId", params: { runId: run.run_id } })}
            />
          </Card>
        </ForWriters>
      </div>
      {runs.error ? <ErrorNote error={runs.error} onRetry={() => void runs.refetch()} /> : null}
      <Group word="start.needsYou" runs={listed.filter(needsPerson)} />
      <Group
        word="start.atWork"
        runs={listed.filter((run) => !needsPerson(run) && !run.ended_at && run.state !== "FAILED")}
      />
      <Group word="start.failed" runs={listed.filter((run) => run.state === "FAILED").slice(0, 5)} />
      <Group word="start.finished" runs={listed.filter((run) => run.state === "COMPLETED").slice(0, 5)} />
    </div>
  );
}

function Group({ word, runs }: { word: Word; runs: RunListed[] }) {
  const say = useWords();
  if (runs.length === 0) return null;
  return (
    <section className="mb-6">
      <h2 className="mb-2 text-faint text-sm uppercase tracking-wide">{say(word)}</h2>
      <ul className="space-y-2">
        {runs.map((run) => (
          <li key={run.run_id}>
            <Link
              to="/runs/$runId"
              params={{ runId: run.run_id }}
              className="flex items-center gap-3 rounded-lg border border-line bg-card p-3 hover:border-faint"
            >
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{shortened(run.input, 120) || run.run_id}</span>
                <span className="block truncate text-faint text-sm">
                  {run.waiting_for.map(waitingWords)[0] ??
                    run.error?.detail ??
                    `${run.task} · ${shortTime(run.started_at)}`}
                </span>
              </span>
              <StateBadge kind="state" value={run.state} outcome={run.outcome} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
