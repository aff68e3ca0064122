import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Connection } from "../../api/journal";
import { isActive, useSignal } from "../../api/queries";
import type { RunDocument } from "../../api/types";
import { count, duration, shortTime, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Button, Card, ErrorNote, INPUT, StateBadge } from "../../kit/parts";

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
      {run.error ? (
        <div role="alert" className="mt-3 rounded-md bg-bad-page px-3 py-2 text-bad text-sm">
          <p className="font-medium">{run.error.detail || run.error.code}</p>
          <p>{run.error.next}</p>
        </div>
      ) : null}
      <Steering run={run} aside={aside} />
      <p role="status" className="mt-2 text-faint text-xs">
        {say(`connection.${connection}`)}
      </p>
    </Card>
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

function Steering({ run, aside }: { run: RunDocument; aside?: ReactNode }) {
  const say = useWords();
  const signal = useSignal(run.run_id);
  const [isSaying, setSaying] = useState(false);
  const active = isActive(run);
  const tell = (verb: "pause" | "resume" | "cancel") => signal.mutate({ verb });
  return (
    <>
      <div className="mt-3 flex flex-wrap gap-2">
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
          <>
            <Button onClick={() => setSaying(!isSaying)} aria-expanded={isSaying}>
              {say("action.say")}
            </Button>
            <Button
              look="danger"
              disabled={signal.isPending}
              onClick={() => window.confirm(say("run.cancelSure")) && tell("cancel")}
            >
              {say("action.cancelRun")}
            </Button>
          </>
        ) : null}
        {aside}
      </div>
      {isSaying && active ? <Say runId={run.run_id} onSaid={() => setSaying(false)} /> : null}
      {signal.error ? <ErrorNote error={signal.error} /> : null}
    </>
  );
}

function Say({ runId, onSaid }: { runId: string; onSaid: () => void }) {
  const say = useWords();
  const signal = useSignal(runId);
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) signal.mutate({ verb: "say", body: { text: text.trim() } }, { onSuccess: onSaid });
  };
  return (
    <form onSubmit={submit} className="mt-2 flex gap-2">
      <input
        className={INPUT}
        placeholder={say("run.sayHint")}
        aria-label={say("run.sayHint")}
        value={text}
        onChange={(change) => setText(change.target.value)}
      />
      <Button type="submit" look="primary" disabled={!text.trim() || signal.isPending}>
        {say("action.send")}
      </Button>
      {signal.error ? <ErrorNote error={signal.error} /> : null}
    </form>
  );
}
