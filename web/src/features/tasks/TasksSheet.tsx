import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { isOpen, tasksQuery } from "../../api/queries";
import type { BackgroundTask } from "../../api/types";
import { shortTime } from "../../kit/format";
import { useWords, type Word } from "../../kit/i18n";
import { Modal } from "../../kit/Modal";
import { Badge, Button, Empty, ErrorNote, Loading, StateBadge } from "../../kit/parts";
import { useFreshTasks } from "./queries";
import { TaskDetails } from "./TaskDetails";

interface TasksButtonProps {
  threadId: string;
  /** How often a journal that is followed told of tasks: the list is read again when it does. */
  news?: number;
}

/** The button that tells of a thread's background tasks, and the sheet it opens. Nothing is asked while the page is hidden. */
export function TasksButton({ threadId, news = 0 }: TasksButtonProps) {
  const say = useWords();
  useFreshTasks(threadId, news);
  const [open, setOpen] = useState(false);
  const tasks = useQuery(tasksQuery(threadId));
  const listed = tasks.data?.background_tasks ?? [];
  if (!open && listed.length === 0) return null;
  const active = listed.filter(isOpen);
  const asking = listed.filter((task) => task.status === "input_required").length;
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        {say("tasks.button", { count: active.length })}
        {asking ? <span className="ms-2 text-warn">{say("tasks.asking", { count: asking })}</span> : null}
      </Button>
      <Modal side open={open} onClose={() => setOpen(false)} title={say("tasks.title")}>
        {tasks.error ? <ErrorNote error={tasks.error} /> : null}
        {tasks.isPending ? <Loading /> : null}
        {tasks.data && listed.length === 0 ? (
          <Empty title={say("tasks.empty")}>{say("tasks.emptyHint")}</Empty>
        ) : null}
        <Group threadId={threadId} word="tasks.active" tasks={active} />
        <Group threadId={threadId} word="tasks.recent" tasks={listed.filter((task) => !isOpen(task))} />
      </Modal>
    </>
  );
}

function Group({ threadId, word, tasks }: { threadId: string; word: Word; tasks: BackgroundTask[] }) {
  const say = useWords();
  const heading = useId();
  if (tasks.length === 0) return null;
  return (
    <section aria-labelledby={heading} className="mb-4">
      <h3 id={heading} className="mb-1 text-faint text-sm">
        {say(word)}
      </h3>
      <ul className="space-y-2">
        {tasks.map((task) => (
          <li key={task.id}>
            <TaskItem threadId={threadId} task={task} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function TaskItem({ threadId, task }: { threadId: string; task: BackgroundTask }) {
  const say = useWords();
  const [open, setOpen] = useState(task.status === "input_required");
  return (
    <div className="rounded-lg border border-line p-3">
      <button
        type="button"
        aria-expanded={open}
        className="flex w-full cursor-pointer items-center gap-2 text-start"
        onClick={() => setOpen(!open)}
      >
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{task.name}</span>
          <span className="text-faint text-xs">{shortTime(task.updated_at)}</span>
        </span>
        {task.tracking === "degraded" ? <Badge tone="warn">{say("tasks.degraded")}</Badge> : null}
        <StateBadge kind="status" value={task.status} />
      </button>
      {open ? <TaskDetails threadId={threadId} task={task} /> : null}
    </div>
  );
}
