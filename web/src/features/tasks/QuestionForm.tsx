import { type FormEvent, useState } from "react";
import type { Json, TaskQuestion } from "../../api/types";
import { ForWriters, ReadOnly } from "../../kit/ForWriters";
import { useWords } from "../../kit/i18n";
import { Out } from "../../kit/Markdown";
import { Button, ErrorNote } from "../../kit/parts";
import { AnswerField } from "./AnswerField";
import { contentOf, fieldsOf } from "./form";
import { useAnswerTask } from "./queries";

interface QuestionFormProps {
  threadId: string;
  taskId: string;
  question: TaskQuestion;
}

/** What a task asks: a form of its fields, an address to open, or what this page can only decline. */
export function QuestionForm({ threadId, taskId, question }: QuestionFormProps) {
  const say = useWords();
  const answer = useAnswerTask(threadId, taskId);
  const fields = fieldsOf(question.schema);
  const [values, setValues] = useState<Record<string, Json>>(() =>
    Object.fromEntries(fields.map((field) => [field.name, field.initial])),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    answer.mutate({ key: question.key, action: "accept", content: contentOf(fields, values) });
  };
  return (
    <form onSubmit={submit} className="space-y-2 rounded border-2 border-warn p-3">
      <p className="whitespace-pre-wrap font-medium">{question.message}</p>
      {question.url ? (
        <p className="break-all">
          <Out address={question.url}>{question.url}</Out>
        </p>
      ) : null}
      {question.kind === "unsupported" ? <p className="text-faint">{say("tasks.unsupported")}</p> : null}
      <ForWriters instead={<ReadOnly />}>
        {fields.map((field) => (
          <AnswerField
            key={field.name}
            field={field}
            value={values[field.name] ?? null}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
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
      </ForWriters>
    </form>
  );
}
