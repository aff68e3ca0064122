import { type FormEvent, useState } from "react";
import { useSignal } from "../../api/queries";
import { useWords } from "../../kit/i18n";
import { Button, ErrorNote, INPUT } from "../../kit/parts";

/** Tell a run something; pinned, it stays before the model to the end, whatever else is folded away. */
export function Say({ runId, onSaid }: { runId: string; onSaid: () => void }) {
  const say = useWords();
  const signal = useSignal(runId);
  const [text, setText] = useState("");
  const [isPinned, setPinned] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!text.trim()) return;
    signal.mutate({ verb: "say", body: { text: text.trim(), pin: isPinned } }, { onSuccess: onSaid });
  };
  return (
    <form onSubmit={submit} className="mt-2 space-y-2">
      <div className="flex gap-2">
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
      </div>
      <label className="flex items-center gap-2 text-faint text-sm">
        <input type="checkbox" checked={isPinned} onChange={(change) => setPinned(change.target.checked)} />
        {say("run.pin")}
      </label>
      {signal.error ? <ErrorNote error={signal.error} /> : null}
    </form>
  );
}
