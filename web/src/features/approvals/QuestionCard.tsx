import { type FormEvent, useId, useState } from "react";
import { useSignal } from "../../api/queries";
import { ForWriters, ReadOnly } from "../../kit/ForWriters";
import { useWords } from "../../kit/i18n";
import { Button, ErrorNote, INPUT } from "../../kit/parts";
import type { OpenQuestion } from "../runs/reading";

/** A question of the run, answered by a choice or in words. */
export function QuestionCard({ runId, request }: { runId: string; request: OpenQuestion }) {
  const say = useWords();
  const signal = useSignal(runId);
  const [text, setText] = useState("");
  const heading = useId();
  const answer = (words: string) =>
    signal.mutate({ verb: "answer", body: { text: words, question: request.question } });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) answer(text.trim());
  };
  return (
    <section aria-labelledby={heading} className="rounded-lg border-2 border-warn bg-card p-4">
      <h3 id={heading} className="mb-2 whitespace-pre-wrap font-semibold">
        {request.text}
      </h3>
      <ForWriters instead={<ReadOnly />}>
        {request.choices.length ? (
          <div className="mb-2 flex flex-wrap gap-2">
            {request.choices.map((choice) => (
              <Button key={choice} disabled={signal.isPending} onClick={() => answer(choice)}>
                {choice}
              </Button>
            ))}
          </div>
        ) : null}
        <form className="flex gap-2" onSubmit={submit}>
          <input
            className={INPUT}
            aria-label={say("approval.answer")}
            placeholder={say("approval.answer")}
            value={text}
            onChange={(change) => setText(change.target.value)}
          />
          <Button type="submit" look="primary" disabled={signal.isPending || !text.trim()}>
            {say("action.answer")}
          </Button>
        </form>
        {signal.error ? <ErrorNote error={signal.error} /> : null}
      </ForWriters>
    </section>
  );
}
