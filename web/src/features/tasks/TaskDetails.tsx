import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { BackgroundTask, Json } from "../../api/types";
import { sayValue, useWords } from "../../kit/i18n";
import { Markdown, Out } from "../../kit/Markdown";
import { Button, ErrorNote, Field, INPUT, Loading } from "../../kit/parts";
import { type TaskQuestion, taskQuery, useAnswerTask, useCancelTask } from "./queries";

/** What is known of one background task, with its question to answer and the means to cancel it. */
export function TaskDetails({ threadId, task }: { threadId: string; task: BackgroundTask }) {
  const say = useWords();
  const detail = useQuery({
    ...taskQuery(threadId, task.id),
    queryKey: ["background-task", threadId, task.id, task.updated_at],
  });
  const cancel = useCancelTask(threadId, task.id);
  if (detail.error) return <ErrorNote error={detail.error} />;
  if (!detail.data) return <Loading />;
  const { preview, questions, notification } = detail.data;
  return (
    <div className="mt-2 space-y-2 text-sm">
      {questions.map((question) => (
        <QuestionForm key={question.key} threadId={threadId} taskId={task.id} question={question} />
      ))}
      {preview ? (
        <div className="max-h-60 overflow-y-auto rounded border border-line p-2">
          <Markdown text={preview} />
        </div>
      ) : null}
      <p className="text-faint text-xs">
        {say("tasks.notification", { status: sayValue("notification", notification.status) })}
        {notification.error ? ` · ${notification.error}` : ""}
      </p>
      {task.actions.includes("cancel") ? (
        <Button
          look="danger"
          disabled={cancel.isPending}
          onClick={() => window.confirm(say("tasks.cancelSure")) && cancel.mutate(undefined)}
        >
          {say("action.cancelTask")}
        </Button>
      ) : null}
      {cancel.error ? <ErrorNote error={cancel.error} /> : null}
    </div>
  );
}

interface QuestionFormProps {
  threadId: string;
  taskId: string;
  question: TaskQuestion;
}

interface Property {
  type?: string;
  title?: string;
  description?: string;
  enum?: string[];
}

function QuestionForm({ threadId, taskId, question }: QuestionFormProps) {
  const say = useWords();
  const answer = useAnswerTask(threadId, taskId);
  const [values, setValues] = useState<Record<string, Json>>({});
  const fields = Object.entries((question.schema.properties ?? {}) as Record<string, Property>);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    answer.mutate({
      key: question.key,
      action: "accept",
      content: question.kind === "form" ? values : undefined,
    });
  };
  return (
    <form onSubmit={submit} className="space-y-2 rounded border-2 border-warn p-3">
      <p className="whitespace-pre-wrap font-medium">{question.message}</p>
      {question.url ? (
        <p>
          <Out address={question.url}>{question.url}</Out>
        </p>
      ) : null}
      {fields.map(([name, property]) => (
        <AnswerField
          key={name}
          name={name}
          property={property}
          isRequired={question.schema.required?.includes(name) ?? false}
          value={values[name]}
          onChange={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      <div className="flex gap-2">
        {question.kind === "unsupported" ? null : (
          <Button type="submit" look="primary" disabled={answer.isPending}>
            {say(question.kind === "url" ? "tasks.done" : "action.answer")}
          </Button>
        )}
        <Button
          look="danger"
          disabled={answer.isPending}
          onClick={() => answer.mutate({ key: question.key, action: "decline" })}
        >
          {say("tasks.decline")}
        </Button>
      </div>
      {answer.error ? <ErrorNote error={answer.error} /> : null}
    </form>
  );
}

interface AnswerFieldProps {
  name: string;
  property: Property;
  isRequired: boolean;
  value: Json | undefined;
  onChange: (value: Json) => void;
}

function AnswerField({ name, property, isRequired, value, onChange }: AnswerFieldProps) {
  const label = `${property.title ?? name}${isRequired ? " *" : ""}`;
  if (property.type === "boolean") {
    return (
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(change) => onChange(change.target.checked)}
        />
        {label}
      </label>
    );
  }
  if (property.enum) {
    return (
      <Field label={label} hint={property.description}>
        <select
          className={INPUT}
          required={isRequired}
          value={typeof value === "string" ? value : ""}
          onChange={(change) => onChange(change.target.value)}
        >
          <option value="" />
          {property.enum.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
    );
  }
  const isNumber = property.type === "number" || property.type === "integer";
  return (
    <Field label={label} hint={property.description}>
      <input
        className={INPUT}
        required={isRequired}
        type={isNumber ? "number" : "text"}
        step={property.type === "integer" ? 1 : "any"}
        value={value === undefined || value === null ? "" : String(value)}
        onChange={(change) => onChange(isNumber ? change.target.valueAsNumber : change.target.value)}
      />
    </Field>
  );
}
