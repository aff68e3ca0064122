import { useMemo } from "react";
import type { TraceLine } from "../../api/types";
import { count, duration, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Empty } from "../../kit/parts";
import { spentByRole } from "./reading";

/** What each role of a run has used. */
export function Spent({ lines }: { lines: readonly TraceLine[] }) {
  const say = useWords();
  const rows = useMemo(() => spentByRole(lines), [lines]);
  if (rows.length === 0) return <Empty title={say("run.nothingSpent")} />;
  return (
    <table className="w-full max-w-xl text-sm">
      <thead>
        <tr className="border-line border-b text-start text-faint">
          <th className="py-1 text-start font-normal">{say("run.role")}</th>
          <th className="text-end font-normal">{say("run.tokens")}</th>
          <th className="text-end font-normal">{say("run.money")}</th>
          <th className="text-end font-normal">{say("run.took")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.role} className="border-line border-b">
            <td className="py-1">{row.role}</td>
            <td className="text-end tabular-nums">{count(row.tokens)}</td>
            <td className="text-end tabular-nums">{usd(row.usd)}</td>
            <td className="text-end tabular-nums">{duration(row.ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
