import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Connection } from "../../api/journal";
import { isActive, useSignal } from "../../api/queries";
import type { RunDocument } from "../../api/types";
import { ForWriters } from "../../kit/ForWriters";
import { count, duration, shortTime, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Button, Card, ErrorNote, StateBadge } from "../../kit/parts";
import { LimitsForm } from "./LimitsForm";
import { Say } from "./Say";

interface RunHeaderProps {
  run: RunDocument;
  connection: Connection;
  aside?: ReactNode;
}

/** What a run is about and where it stands, with everything it can be told to do. */
export function RunHeader({ run, connection, aside }: RunHeaderProps) {
  const say = useWords();
  return (
    <Card className="mb-4">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <h1 className="min-w-0 flex-1 whitespace-pre-wrap font-semibold text-lg">{run.input}</h1>
        <StateBadge kind="state" value={run.state} outcome={run.outcome} />
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-faint text-sm">
        <Fact name={say("run.task")}>{run.task}</Fact>
        <Fact name={say("run.steps")}>{count(run.steps)}</Fact>
        <Fact name={say("run.tokens")}>{count(run.tokens)}</Fact>
        {run.cost_usd ? <Fact name={say("run.money")}>{usd(run.cost_usd)}</Fact> : null}
        <Fact name={say("run.started")}>{shortTime(run.started_at)}</Fact>
        {run.ended_at ? (
          <Fact name={say("run.took")}>
            {duration(new Date(run.ended_at).getTime() - new Date(run.started_at).getTime())}
          </Fact>
        ) : null}
        <Fact name={say("run.id")}>
          <code className="text-xs">{run.run_id}</code>
        </Fact>
        <Link to="/threads/$threadId" params={{ threadId: run.thread_id }} className="text-accent underline">
          {say("run.thread")}
        </Link>
      </dl>
      {run.error ? <Why run={run} error={run.error} /> : null}
      <Steering run={run} aside={aside} />
      <p role="status" className="mt-2 text-faint text-xs">
        {say(`connection.${connection}`)}
      </p>
    </Card>
  );
}

/** Why a run failed or was cancelled, and what to do next; that somebody cancelled it is no alarm. */
function Why({ run, error }: { run: RunDocument; error: NonNullable<RunDocument["error"]> }) {
  const isAlarm = run.state === "FAILED";
  return (
    <div
      role={isAlarm ? "alert" : "note"}
      className={`mt-3 rounded-md px-3 py-2 text-sm ${isAlarm ? "bg-bad-page text-bad" : "bg-page text-faint"}`}
    >
      <p className="font-medium">{error.detail || error.code}</p>
      <p>{error.next.replace(/\bRUN\b/g, run.run_id)}</p>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1">
      <dt>{name}</dt>
      <dd className="text-ink">{children}</dd>
    </div>
  );
}

interface SteeringProps {
  run: RunDocument;
  aside?: ReactNode;
}

function Steering({ run, aside }: SteeringProps) {
  const say = useWords();
  const signal = useSignal(run.run_id);
  const [shown, setShown] = useState<"say" | "limits" | null>(null);
  const active = isActive(run);
  const toggle = (form: "say" | "limits") => setShown(shown === form ? null : form);
  const tell = (verb: "pause" | "resume" | "cancel") => signal.mutate({ verb });
  return (
    <>
      <div className="mt-3 flex flex-wrap gap-2">
        <ForWriters>
          {active && run.state !== "PAUSED" ? (
            <Button disabled={signal.isPending} onClick={() => tell("pause")}>
              {say("action.pause")}
            </Button>
          ) : null}
          {run.state === "PAUSED" || run.state === "FAILED" ? (
            <Button look="primary" disabled={signal.isPending} onClick={() => tell("resume")}>
              {say("action.resume")}
            </Button>
          ) : null}
          {active ? (
            <Button onClick={() => toggle("say")} aria-expanded={shown === "say"}>
              {say("action.say")}
            </Button>
          ) : null}
          {active || run.state === "FAILED" ? (
            <Button onClick={() => toggle("limits")} aria-expanded={shown === "limits"}>
              {say("action.limits")}
            </Button>
          ) : null}
          {active ? (
            <Button
              look="danger"
              disabled={signal.isPending}
              onClick={() => window.confirm(say("run.cancelSure")) && tell("cancel")}
            >
              {say("action.cancelRun")}
            </Button>
          ) : null}
        </ForWriters>
        {aside}
      </div>
      {shown === "say" && active ? <Say runId={run.run_id} onSaid={() => setShown(null)} /> : null}
      {shown === "limits" ? (
        <LimitsForm runId={run.run_id} limits={run.limits} onChanged={() => setShown(null)} />
      ) : null}
      {signal.error ? <ErrorNote error={signal.error} /> : null}
    </>
  );
}
