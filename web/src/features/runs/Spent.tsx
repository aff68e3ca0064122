import type { RunDocument } from "../../api/types";
import { count, duration, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Empty } from "../../kit/parts";
import { Table } from "../../kit/Table";

type Part = RunDocument["spent"]["by_role"][number] | RunDocument["spent"]["by_subtask"][number];

/** What a run has used, by role and by subtask. */
export function Spent({ run }: { run: RunDocument }) {
  const say = useWords();
  const { by_role: roles, by_subtask: subtasks } = run.spent;
  if (roles.length === 0) return <Empty title={say("run.nothingSpent")} />;
  const questions = new Map(run.plan.map((item) => [item.id, item.question]));
  return (
    <div className="space-y-6">
      <Parts
        title={say("run.byRole")}
        of={say("run.role")}
        rows={roles.map((part) => ({ name: part.role, hint: "", part }))}
      />
      {subtasks.some((part) => part.subtask !== null) ? (
        <Parts
          title={say("run.bySubtask")}
          of={say("run.subtask")}
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

interface PartsProps {
  title: string;
  of: string;
  rows: { name: string; hint: string; part: Part }[];
}

function Parts({ title, of, rows }: PartsProps) {
  const say = useWords();
  return (
    <Table
      caption={title}
      head={[of, say("run.steps"), say("run.tokens"), say("run.money"), say("run.busy")]}
      rows={rows.map(({ name, hint, part }) => ({
        key: name,
        cells: [
          <>
            {name} {hint ? <span className="text-faint">{hint}</span> : null}
          </>,
          count(part.steps),
          count(part.tokens),
          usd(part.cost_usd),
          duration(part.duration_ms),
        ],
      }))}
    />
  );
}
