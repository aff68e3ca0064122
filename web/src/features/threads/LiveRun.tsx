import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { TraceLine } from "../../api/types";
import { shortened } from "../../kit/format";
import { sayCount, useWords } from "../../kit/i18n";
import { Card, StateBadge } from "../../kit/parts";
import { Requests } from "../approvals/Requests";
import { phrase } from "../runs/phrase";
import { newsOfTasks, openRequests } from "../runs/reading";
import { Speaking } from "../runs/Speaking";
import { useJournal } from "../runs/useJournal";
import { useFreshTasks } from "../tasks/queries";

const STEPS = new Set([
  "ToolAnswered",
  "PlanMade",
  "SubtaskConcluded",
  "SubtaskReviewed",
  "ReportWritten",
  "LimitReached",
]);

/** A run at work inside its conversation: what it says, what it asks, and its steps folded under one line. */
export function LiveRun({ runId, threadId }: { runId: string; threadId: string }) {
  const say = useWords();
  const client = useQueryClient();
  const journal = useJournal(runId);
  const last = journal.lines.at(-1);
  const steps = useMemo(() => journal.lines.filter((line) => STEPS.has(line.kind)), [journal.lines]);
  const requests = useMemo(() => openRequests(journal.lines), [journal.lines]);
  useFreshTasks(
    threadId,
    useMemo(() => newsOfTasks(journal.lines), [journal.lines]),
  );
  useEffect(() => {
    if (journal.connection === "ended") void client.invalidateQueries({ queryKey: ["runs"] });
  }, [client, journal.connection]);
  return (
    <Card className="me-8">
      <p className="mb-2 flex items-center gap-2 text-faint text-sm">
        {last ? <StateBadge kind="state" value={last.state} /> : null}
        <span className="min-w-0 flex-1 truncate">
          {steps.length ? phrase(steps.at(-1) as TraceLine) : say("run.beginning")}
        </span>
        <Link to="/runs/$runId" params={{ runId }} className="text-accent underline">
          {say("thread.open")}
        </Link>
      </p>
      <Requests runId={runId} requests={requests} />
      <Speaking speaking={journal.speaking} />
      {steps.length ? <Steps steps={steps} /> : null}
    </Card>
  );
}

function Steps({ steps }: { steps: TraceLine[] }) {
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-faint">
        {sayCount("count.step", "count.steps", steps.length)}
      </summary>
      <ol className="mt-1 space-y-1">
        {steps.slice(-50).map((line) => (
          <li key={line.seq} className={line.error ? "text-bad" : "text-faint"}>
            {shortened(phrase(line), 140)}
          </li>
        ))}
      </ol>
    </details>
  );
}
