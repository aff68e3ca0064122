import { type FormEvent, useState } from "react";
import { useSignal } from "../../api/queries";
import type { Limits } from "../../api/types";
import { useWords, type Word } from "../../kit/i18n";
import { Button, ErrorNote, Field, INPUT } from "../../kit/parts";

type LimitName = keyof Limits;

const WORDS: Record<LimitName, Word> = {
  max_steps: "limits.max_steps",
  max_wall_seconds: "limits.max_wall_seconds",
  max_tokens_total: "limits.max_tokens_total",
  max_cost_usd: "limits.max_cost_usd",
  max_replans: "limits.max_replans",
};
const NAMES = Object.keys(WORDS) as LimitName[];
const UNBOUNDED: ReadonlySet<LimitName> = new Set(["max_tokens_total", "max_cost_usd"]);

interface LimitsFormProps {
  runId: string;
  limits: Limits;
  onChanged: () => void;
}

/** The limits of a run that goes on, to be changed; only what was changed is sent. */
export function LimitsForm({ runId, limits, onChanged }: LimitsFormProps) {
  const say = useWords();
  const signal = useSignal(runId);
  const [values, setValues] = useState<Record<LimitName, string>>(() => asTexts(limits));
  const changes = changesIn(limits, values);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signal.mutate({ verb: "limits", body: { limits: changes } }, { onSuccess: onChanged });
  };
  return (
    <form onSubmit={submit} className="mt-3 space-y-2" aria-label={say("action.limits")}>
      <div className="grid gap-2 sm:grid-cols-3">
        {NAMES.map((name) => (
          <Field key={name} label={say(WORDS[name])}>
            <input
              className={INPUT}
              type="number"
              min={0}
              step={name === "max_cost_usd" || name === "max_wall_seconds" ? "any" : 1}
              required={!UNBOUNDED.has(name)}
              placeholder={UNBOUNDED.has(name) ? say("limits.none") : ""}
              value={values[name]}
              onChange={(change) => setValues({ ...values, [name]: change.target.value })}
            />
          </Field>
        ))}
      </div>
      <Button type="submit" look="primary" disabled={signal.isPending || Object.keys(changes).length === 0}>
        {say("limits.change")}
      </Button>
      {signal.error ? <ErrorNote error={signal.error} /> : null}
    </form>
  );
}

function asTexts(limits: Limits): Record<LimitName, string> {
  const texts = NAMES.map((name) => [name, limits[name] === null ? "" : String(limits[name])]);
  return Object.fromEntries(texts) as Record<LimitName, string>;
}

function changesIn(limits: Limits, values: Record<LimitName, string>): Partial<Limits> {
  const wanted = NAMES.map((name) => [name, values[name] === "" ? null : Number(values[name])] as const);
  return Object.fromEntries(wanted.filter(([name, value]) => value !== limits[name]));
}
