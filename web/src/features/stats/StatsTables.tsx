import type { Stats } from "../../api/types";
import { count, duration, share, usd } from "../../kit/format";
import { sayValue, useWords } from "../../kit/i18n";
import { Table } from "../../kit/Table";

interface StatsTablesProps {
  stats: Stats;
  /** Show the calls of a tool that failed. */
  onTool: (tool: string) => void;
}

/** The figures by task, model and tool, and what failed of what. */
export function StatsTables({ stats, onTool }: StatsTablesProps) {
  const say = useWords();
  return (
    <>
      <Table
        caption={say("stats.byTask")}
        head={[
          say("run.task"),
          say("stats.runs"),
          say("stats.completed"),
          say("run.steps"),
          say("run.tokens"),
          say("run.money"),
          say("run.took"),
          say("stats.loopStops"),
        ]}
        rows={stats.by_task.map((row) => ({
          key: row.task,
          cells: [
            row.task,
            count(row.runs),
            share(row.completed, row.runs),
            count(row.steps),
            count(row.tokens),
            usd(row.cost_usd),
            duration(row.duration_ms),
            count(row.loop_stops),
          ],
        }))}
      />
      <Table
        caption={say("stats.byModel")}
        head={[
          say("stats.model"),
          say("stats.calls"),
          say("stats.failed"),
          say("run.tokens"),
          say("run.money"),
          say("run.took"),
          say("stats.fitBefore"),
          say("stats.fitAfter"),
        ]}
        rows={stats.by_model.map((row) => ({
          key: row.model,
          cells: [
            row.model,
            count(row.calls),
            count(row.failed),
            count(row.tokens),
            usd(row.cost_usd),
            duration(row.duration_ms),
            share(row.fit_before_repair, row.structured_answers),
            share(row.fit_after_repair, row.structured_answers),
          ],
        }))}
      />
      <Table
        caption={say("stats.byTool")}
        head={[
          say("stats.tool"),
          say("stats.calls"),
          say("stats.succeeded"),
          say("stats.failed"),
          say("stats.cached"),
          say("run.took"),
        ]}
        rows={stats.by_tool.map((row) => ({
          key: row.tool,
          cells: [
            row.tool,
            count(row.calls),
            share(row.calls - row.failed, row.calls),
            row.failed ? (
              <button
                key="failed"
                type="button"
                className="cursor-pointer text-bad underline"
                aria-label={say("stats.failedCalls", { tool: row.tool })}
                onClick={() => onTool(row.tool)}
              >
                {count(row.failed)}
              </button>
            ) : (
              "0"
            ),
            count(row.cached),
            duration(row.duration_ms),
          ],
        }))}
      />
      <Table
        caption={say("stats.failures")}
        head={[say("stats.reason"), say("stats.of"), say("stats.count")]}
        rows={stats.failures.map((row) => ({
          key: `${row.of} ${row.code}`,
          cells: [row.code, sayValue("failure", row.of), count(row.count)],
        }))}
      />
    </>
  );
}
