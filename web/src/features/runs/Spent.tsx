import type { RunDocument } from "../../api/types";
import { count, duration, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Empty } from "../../kit/parts";

type Part = RunDocument["spent"]["by_role"][number] | RunDocument["spent"]["by_subtask"][number];

/** What a run has used, by role and by subtask. */
export function Spent({ run }: { run: RunDocument }) {
  const say = useWords();
  const { by_role: roles, by_subtask: subtasks } = run.spent;
  if (roles.length === 0) return <Empty title={say("run.nothingSpent")} />;
  const questions = new Map(run.plan.map((item) => [item.id, item.question]));
  return (
    <div className="space-y-6">
      <Parts title={say("run.role")} rows={roles.map((part) => ({ name: part.role, hint: "", part }))} />
      {subtasks.some((part) => part.subtask !== null) ? (
        <Parts
          title={say("run.subtask")}
          rows={subtasks.map((part) => ({
            name: part.subtask ?? say("run.noSubtask"),
            hint: questions.get(part.subtask ?? "") ?? "",
            part,
          }))}
        />
      ) : null}
    </div>
  );
}

function Parts({ title, rows }: { title: string; rows: { name: string; hint: string; part: Part }[] }) {
  const say = useWords();
  return (
    <table className="w-full max-w-3xl text-sm">
      <thead>
        <tr className="border-line border-b text-faint">
          <th className="py-1 text-start font-normal">{title}</th>
          <th className="ps-3 text-end font-normal">{say("run.steps")}</th>
          <th className="ps-3 text-end font-normal">{say("run.tokens")}</th>
          <th className="ps-3 text-end font-normal">{say("run.money")}</th>
          <th className="ps-3 text-end font-normal">{say("run.took")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, hint, part }) => (
          <tr key={name} className="border-line border-b align-top">
            <td className="py-1">
              {name} {hint ? <span className="text-faint">{hint}</span> : null}
            </td>
            <td className="ps-3 text-end tabular-nums">{count(part.steps)}</td>
            <td className="ps-3 text-end tabular-nums">{count(part.tokens)}</td>
            <td className="ps-3 text-end tabular-nums">{usd(part.cost_usd)}</td>
            <td className="whitespace-nowrap ps-3 text-end tabular-nums">{duration(part.duration_ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
