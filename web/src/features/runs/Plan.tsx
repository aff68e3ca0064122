import { useMemo } from "react";
import type { Planned, RunDocument, Subtask } from "../../api/types";
import { sayValue, useWords } from "../../kit/i18n";
import { Badge, Card, Empty } from "../../kit/parts";

/** Subtasks by how deep they stand: those that depend on nothing first. */
export function ranked(plan: readonly Planned[]): { item: Planned; depth: number }[] {
  const byId = new Map(plan.map((item) => [item.id, item]));
  const depths = new Map<string, number>();
  const depthOf = (id: string, seen: ReadonlySet<string>): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const item = byId.get(id);
    if (!item || seen.has(id)) return 0;
    const inside = new Set(seen).add(id);
    const depth = Math.max(
      0,
      ...item.depends_on.filter((on) => byId.has(on)).map((on) => depthOf(on, inside) + 1),
    );
    depths.set(id, depth);
    return depth;
  };
  return plan
    .map((item) => ({ item, depth: depthOf(item.id, new Set()) }))
    .sort((one, other) => one.depth - other.depth || plan.indexOf(one.item) - plan.indexOf(other.item));
}

/** The plan as a tree: what stands deeper waits for what stands above it. */
export function Plan({ run }: { run: RunDocument }) {
  const say = useWords();
  const rows = useMemo(() => ranked(run.plan), [run.plan]);
  const worked = useMemo(() => new Map(run.subtasks.map((subtask) => [subtask.id, subtask])), [run.subtasks]);
  if (rows.length === 0) return <Empty title={say("plan.empty")}>{say("plan.emptyHint")}</Empty>;
  return (
    <ol aria-label={say("run.plan")} className="space-y-2">
      {rows.map(({ item, depth }) => (
        <li key={item.id} style={{ marginInlineStart: `${Math.min(depth, 6) * 1.5}rem` }}>
          <PlannedCard item={item} subtask={worked.get(item.id)} />
        </li>
      ))}
    </ol>
  );
}

const TONES: Record<string, "good" | "bad" | "accent" | "plain"> = {
  accepted: "good",
  done: "good",
  dropped: "bad",
  running: "accent",
  working: "accent",
};

function PlannedCard({ item, subtask }: { item: Planned; subtask?: Subtask }) {
  const say = useWords();
  return (
    <Card className="p-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-faint text-xs">{item.id}</span>
        <span className="min-w-0 flex-1 font-medium">{item.question}</span>
        {subtask ? (
          <Badge tone={TONES[subtask.state] ?? "plain"}>{sayValue("progress", subtask.state)}</Badge>
        ) : null}
      </div>
      <p className="text-faint text-sm">{say("plan.doneWhen", { what: item.done_when })}</p>
      {item.depends_on.length ? (
        <p className="text-faint text-sm">{say("plan.after", { what: item.depends_on.join(", ") })}</p>
      ) : null}
      {subtask?.conclusions.length ? (
        <details className="mt-1 text-sm">
          <summary className="cursor-pointer text-accent">
            {say("plan.conclusions", { count: subtask.conclusions.length })}
          </summary>
          <ul className="mt-1 space-y-1">
            {subtask.conclusions.map((conclusion) => (
              <li key={conclusion.id} className="border-line border-s-2 ps-2">
                {conclusion.claim}{" "}
                <span className="text-faint">
                  {conclusion.sources.join(", ")} · {Math.round(conclusion.confidence * 100)}%
                </span>
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      {subtask?.open_questions.map((question) => (
        <p key={question} className="text-sm text-warn">
          {say("plan.open", { what: question })}
        </p>
      ))}
    </Card>
  );
}
