import type { Delta } from "../../api/journal";
import { useWords } from "../../kit/i18n";
import { Markdown } from "../../kit/Markdown";
import { Card } from "../../kit/parts";

/** What models are saying at this moment; it is in the journal once they are done. */
export function Speaking({ speaking }: { speaking: ReadonlyMap<string, Delta> }) {
  const say = useWords();
  if (speaking.size === 0) return null;
  return (
    <div className="mb-4 space-y-2">
      {[...speaking.values()].map((delta) => (
        <Card key={delta.branch} className="border-accent">
          <h3 className="mb-1 text-faint text-xs">
            {say("run.speaking", { who: delta.role || delta.branch })}
          </h3>
          {delta.text ? (
            <Markdown text={delta.text} />
          ) : (
            <p className="text-faint text-sm">{delta.reasoning.slice(-400)}</p>
          )}
        </Card>
      ))}
    </div>
  );
}
