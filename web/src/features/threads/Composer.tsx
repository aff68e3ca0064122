import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { newKey } from "../../api/client";
import { definitionsQuery, type Start, useStart } from "../../api/queries";
import type { RunDocument, TaskListed } from "../../api/types";
import { useWords } from "../../kit/i18n";
import { keep, kept } from "../../kit/kept";
import { Button, Empty, ErrorNote, INPUT, SELECT } from "../../kit/parts";

interface ComposerProps {
  threadId?: string;
  /** The thread has a run at work: a person chooses what becomes of a new one. */
  isBusy?: boolean;
  /** The task chosen first. */
  task?: string;
  onStarted: (run: RunDocument) => void;
}

/** Ask for something: a task and words. The same request sent twice starts one run. */
export function Composer({ threadId, isBusy = false, task: preferred, onStarted }: ComposerProps) {
  const say = useWords();
  const definitions = useQuery(definitionsQuery());
  const start = useStart();
  const [input, setInput] = useState("");
  const [task, setTask] = useState("");
  const [strategy, setStrategy] = useState<NonNullable<Start["strategy"]>>("enqueue");
  const key = useRef(newKey());
  const tasks = definitions.data?.tasks ?? [];
  const chosen = [task, preferred, kept("task")].find((name) => isUsable(tasks, name)) ?? firstUsable(tasks);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another wish needs another key
  useEffect(() => {
    key.current = newKey();
  }, [input, chosen, strategy]);
  const send = () => {
    if (!input.trim() || start.isPending || !chosen) return;
    start.mutate(
      {
        task: chosen,
        input: input.trim(),
        threadId,
        strategy: isBusy ? strategy : undefined,
        key: key.current,
      },
      {
        onSuccess: (run) => {
          keep("task", chosen);
          setInput("");
          onStarted(run);
        },
      },
    );
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing) send();
  };
  if (definitions.data && tasks.length === 0)
    return <Empty title={say("composer.noTasks")}>{say("composer.noTasksHint")}</Empty>;
  return (
    <form onSubmit={submit} className="space-y-2">
      <textarea
        className={`${INPUT} min-h-20`}
        placeholder={say("composer.placeholder")}
        aria-label={say("composer.placeholder")}
        value={input}
        onChange={(change) => setInput(change.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="flex flex-wrap items-center gap-2">
        <select
          className={`${SELECT} max-w-full`}
          aria-label={say("composer.task")}
          value={chosen}
          onChange={(change) => setTask(change.target.value)}
        >
          {tasks.map((definition) => (
            <option key={definition.name} value={definition.name} disabled={definition.problem !== null}>
              {definition.name}
            </option>
          ))}
        </select>
        {isBusy ? (
          <select
            className={SELECT}
            aria-label={say("composer.strategy")}
            value={strategy}
            onChange={(change) => setStrategy(change.target.value as typeof strategy)}
          >
            <option value="enqueue">{say("composer.enqueue")}</option>
            <option value="interrupt">{say("composer.interrupt")}</option>
          </select>
        ) : null}
        <Button
          type="submit"
          look="primary"
          className="ms-auto"
          disabled={!input.trim() || !chosen || start.isPending}
        >
          {say(start.isPending ? "composer.starting" : "composer.start")}
        </Button>
      </div>
      <p className="text-faint text-sm">
        {tasks.find((definition) => definition.name === chosen)?.description}
      </p>
      <Unusable tasks={tasks} />
      {start.error ? <ErrorNote error={start.error} /> : null}
      {definitions.error ? (
        <ErrorNote error={definitions.error} onRetry={() => void definitions.refetch()} />
      ) : null}
    </form>
  );
}

function isUsable(tasks: TaskListed[], name: string | null | undefined): name is string {
  return tasks.some((definition) => definition.name === name && definition.problem === null);
}

const firstUsable = (tasks: TaskListed[]): string =>
  tasks.find((definition) => definition.problem === null)?.name ?? "";

/** Which task files cannot be used as they stand, and why. */
function Unusable({ tasks }: { tasks: TaskListed[] }) {
  const say = useWords();
  const broken = tasks.filter((definition) => definition.problem !== null);
  if (broken.length === 0) return null;
  return (
    <ul aria-label={say("composer.unusable")} className="text-sm text-warn">
      {broken.map((definition) => (
        <li key={definition.name}>
          <b>{definition.name}</b>: {definition.problem}
        </li>
      ))}
    </ul>
  );
}
