import { useQuery } from "@tanstack/react-query";
import type { BackgroundTask, TaskDetail } from "../../api/types";
import { ForWriters } from "../../kit/ForWriters";
import { sayValue, useWords } from "../../kit/i18n";
import { Markdown } from "../../kit/Markdown";
import { Button, ErrorNote, Loading } from "../../kit/parts";
import { QuestionForm } from "./QuestionForm";
import { taskQuery, useCancelTask, useRedrive } from "./queries";

interface TaskDetailsProps {
  threadId: string;
  task: BackgroundTask;
}

/** What is known of one background task, with its questions to answer and what may be done about it. */
export function TaskDetails({ threadId, task }: TaskDetailsProps) {
  const detail = useQuery(taskQuery(threadId, task));
  if (detail.error) return <ErrorNote error={detail.error} onRetry={() => void detail.refetch()} />;
  if (!detail.data) return <Loading />;
  return (
    <div className="mt-2 space-y-2 text-sm">
      {detail.data.questions.map((question) => (
        <QuestionForm key={question.key} threadId={threadId} taskId={task.id} question={question} />
      ))}
      {detail.data.message ? <p className="whitespace-pre-wrap">{detail.data.message}</p> : null}
      <Outcome task={detail.data} />
      <Told task={detail.data} />
      <ForWriters>
        <Actions threadId={threadId} task={detail.data} />
      </ForWriters>
    </div>
  );
}

/** What a task came to, or why it came to nothing. */
function Outcome({ task: { result, error } }: { task: TaskDetail }) {
  const say = useWords();
  return (
    <>
      {error ? (
        <div role="note" className="rounded-md bg-bad-page px-3 py-2 text-bad">
          <p className="font-medium">{error.detail || error.code}</p>
          {error.detail ? <p className="opacity-75">{error.code}</p> : null}
        </div>
      ) : null}
      {result?.preview ? (
        <section
          aria-label={say(result.is_error ? "timeline.error" : "timeline.result")}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
          tabIndex={0}
          className={`max-h-60 overflow-y-auto rounded border p-2 ${result.is_error ? "border-bad" : "border-line"}`}
        >
          <Markdown text={result.preview} />
          {result.is_truncated ? <p className="text-faint">{say("tasks.truncated")}</p> : null}
        </section>
      ) : null}
    </>
  );
}

function Told({ task: { notification } }: { task: TaskDetail }) {
  const say = useWords();
  return (
    <p className="text-faint text-xs">
      {say("tasks.notification", { status: sayValue("notification", notification.state) })}
      {notification.failures ? ` · ${say("tasks.failures", { count: notification.failures })}` : ""}
    </p>
  );
}

function Actions({ threadId, task }: { threadId: string; task: TaskDetail }) {
  const say = useWords();
  const cancel = useCancelTask(threadId, task.id);
  const redrive = useRedrive();
  return (
    <div className="flex flex-wrap gap-2">
      {task.actions.includes("cancel") ? (
        <Button
          look="danger"
          disabled={cancel.isPending}
          onClick={() => window.confirm(say("tasks.cancelSure")) && cancel.mutate(undefined)}
        >
          {say("action.cancelTask")}
        </Button>
      ) : null}
      {task.actions.includes("redrive") ? (
        <Button disabled={redrive.isPending} onClick={() => redrive.mutate(task.id)}>
          {say("action.redrive")}
        </Button>
      ) : null}
      {cancel.error ? <ErrorNote error={cancel.error} /> : null}
      {redrive.error ? <ErrorNote error={redrive.error} /> : null}
    </div>
  );
}
