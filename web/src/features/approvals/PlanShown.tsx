import type { Json } from "../../api/types";
import { readable } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Pre } from "../runs/Pre";

interface Question {
  id: string;
  question: string;
}

/** The questions of a plan, where that is what a person decides about; a call is shown with all its arguments instead. */
export function questionsOf(shown: Json): Question[] {
  const isObject = shown !== null && typeof shown === "object" && !Array.isArray(shown);
  const plan = isObject && !("tool" in shown) ? shown.plan : null;
  if (!Array.isArray(plan)) return [];
  return plan.filter(
    (item): item is Json & Question =>
      item !== null && typeof item === "object" && !Array.isArray(item) && typeof item.question === "string",
  );
}

/** A plan to be agreed to: its questions to be read, and all that was shown below them. */
export function PlanShown({ shown }: { shown: Json }) {
  const say = useWords();
  return (
    <>
      <ol className="mb-2 space-y-1">
        {questionsOf(shown).map((item) => (
          <li key={item.id} className="flex gap-2">
            <span className="shrink-0 whitespace-nowrap text-faint">{item.id}</span> {item.question}
          </li>
        ))}
      </ol>
      <details>
        <summary className="cursor-pointer text-faint text-xs">{say("approval.everything")}</summary>
        <Pre>{readable(shown)}</Pre>
      </details>
    </>
  );
}
