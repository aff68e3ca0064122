import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { isActive, runsQuery, threadQuery, useDeleteThread } from "../../api/queries";
import type { RunListed, ThreadDocument } from "../../api/types";
import { ForWriters, ReadOnly } from "../../kit/ForWriters";
import { sayCount, useWords } from "../../kit/i18n";
import { Markdown } from "../../kit/Markdown";
import { Button, ErrorNote, Loading, PageTitle, StateBadge } from "../../kit/parts";
import { TasksButton } from "../tasks/TasksSheet";
import { Composer } from "./Composer";
import { LiveRun } from "./LiveRun";

const route = getRouteApi("/threads/$threadId");

/** A conversation: what was said, the run at work with its steps folded, and the means to go on. */
export function ThreadPage() {
  const { threadId } = route.useParams();
  return <OneThread key={threadId} threadId={threadId} />;
}

function OneThread({ threadId }: { threadId: string }) {
  const say = useWords();
  const navigate = useNavigate();
  const client = useQueryClient();
  const thread = useQuery(threadQuery(threadId));
  const runs = useQuery(runsQuery({ thread: threadId }));
  const gone = useDeleteThread();
  const listed = useMemo(() => [...(runs.data?.runs ?? [])].reverse(), [runs.data]);
  const active = listed.filter(isActive);
  const stages = listed.map((run) => `${run.run_id} ${run.state}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is said changes when a run begins or ends, also between two looks
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ["thread", threadId] });
  }, [client, threadId, stages]);
  if (thread.error && !thread.data)
    return <ErrorNote error={thread.error} onRetry={() => void thread.refetch()} />;
  if (!thread.data) return <Loading />;
  const forget = () =>
    window.confirm(say("thread.deleteSure")) &&
    gone.mutate(threadId, { onSuccess: () => void navigate({ to: "/" }) });
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-4">
      <PageTitle
        aside={
          <div className="flex flex-wrap gap-2">
            <TasksButton threadId={threadId} />
            <ForWriters>
              <Button look="danger" disabled={gone.isPending} onClick={forget}>
                {say("action.delete")}
              </Button>
            </ForWriters>
          </div>
        }
      >
        {thread.data.title || say("thread.untitled")}
      </PageTitle>
      {gone.error ? <ErrorNote error={gone.error} /> : null}
      <Messages thread={thread.data} runs={listed} />
      {active.map((run) => (
        <LiveRun key={run.run_id} runId={run.run_id} threadId={threadId} />
      ))}
      <ForWriters instead={<ReadOnly />}>
        <Composer
          threadId={threadId}
          isBusy={active.length > 0}
          task={listed.at(-1)?.task}
          onStarted={() => void runs.refetch()}
        />
      </ForWriters>
    </div>
  );
}

function Messages({ thread, runs }: { thread: ThreadDocument; runs: RunListed[] }) {
  const say = useWords();
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const answered = new Set(thread.messages.filter((one) => one.speaker !== "user").map((one) => one.run_id));
  return (
    <ol aria-label={say("thread.messages")} className="space-y-3">
      {thread.messages.map((message, index) => {
        const run = byId.get(message.run_id);
        const isUser = message.speaker === "user";
        const ended = run && !isActive(run) && !(isUser && answered.has(run.run_id)) ? run : null;
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: what was said only grows, and is never reordered
            key={index}
            className={
              isUser ? "ms-8 rounded-lg bg-accent-page p-3" : "me-8 rounded-lg border border-line bg-card p-3"
            }
          >
            <p className="mb-1 flex flex-wrap items-center gap-2 text-faint text-xs">
              <span className="whitespace-nowrap">{say(isUser ? "thread.you" : "thread.agent")}</span>
              {ended ? (
                <>
                  <Link to="/runs/$runId" params={{ runId: ended.run_id }} className="underline">
                    {say(ended.state === "COMPLETED" ? "thread.how" : "thread.open")} ·{" "}
                    {sayCount("count.step", "count.steps", ended.steps)}
                  </Link>
                  <StateBadge kind="state" value={ended.state} outcome={ended.outcome} />
                </>
              ) : null}
            </p>
            {isUser ? (
              <p className="whitespace-pre-wrap">{message.text}</p>
            ) : (
              <Markdown text={message.text} />
            )}
          </li>
        );
      })}
    </ol>
  );
}
