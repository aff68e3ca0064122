import { queryOptions, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { call } from "../../api/client";
import type { Stats } from "../../api/types";
import { count, duration, usd } from "../../kit/format";
import { useWords, type Word } from "../../kit/i18n";
import { Card, Empty, ErrorNote, Loading, PageTitle, SELECT } from "../../kit/parts";

const Plot = lazy(() => import("./Plot"));

const statsQuery = (since: string) =>
  queryOptions({
    queryKey: ["stats", since],
    queryFn: ({ signal }) => call<Stats>(`/api/stats?since=${since}`, { signal }),
  });

const PERIODS: { value: string; word: Word }[] = [
  { value: "1d", word: "stats.day" },
  { value: "7d", word: "stats.week" },
  { value: "30d", word: "stats.month" },
];

/** What runs have used and how they went. */
export function StatsPage() {
  const say = useWords();
  const [since, setSince] = useState("7d");
  const stats = useQuery(statsQuery(since));
  return (
    <>
      <PageTitle
        aside={
          <select
            className={SELECT}
            aria-label={say("stats.period")}
            value={since}
            onChange={(change) => setSince(change.target.value)}
          >
            {PERIODS.map(({ value, word }) => (
              <option key={value} value={value}>
                {say(word)}
              </option>
            ))}
          </select>
        }
      >
        {say("nav.stats")}
      </PageTitle>
      {stats.error ? <ErrorNote error={stats.error} onRetry={() => void stats.refetch()} /> : null}
      {stats.isPending ? <Loading /> : null}
      {stats.data ? <Shown stats={stats.data} /> : null}
    </>
  );
}

function Shown({ stats }: { stats: Stats }) {
  const say = useWords();
  const { total } = stats;
  if (total.runs === 0) return <Empty title={say("stats.empty")} />;
  return (
    <div className="space-y-6">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure name={say("stats.runs")} value={count(total.runs)} />
        <Figure
          name={say("stats.completed")}
          value={`${Math.round((100 * total.completed) / total.runs)}%`}
        />
        <Figure name={say("run.tokens")} value={count(total.tokens)} />
        <Figure name={say("run.money")} value={usd(total.cost_usd)} />
      </dl>
      {stats.by_day.length > 1 ? (
        <Suspense fallback={<Loading />}>
          <Plot days={stats.by_day} />
        </Suspense>
      ) : null}
      <Table
        caption={say("stats.byTool")}
        head={[say("stats.tool"), say("stats.calls"), say("stats.failed"), say("run.took")]}
        rows={stats.by_tool.map((row) => [
          row.tool,
          count(row.calls),
          count(row.failed),
          duration(row.duration_ms),
        ])}
      />
      <Table
        caption={say("stats.byTask")}
        head={[say("run.task"), say("stats.runs"), say("run.steps"), say("run.tokens")]}
        rows={stats.by_task.map((row) => [row.task, count(row.runs), count(row.steps), count(row.tokens)])}
      />
      <Table
        caption={say("stats.failures")}
        head={[say("stats.reason"), say("stats.runs")]}
        rows={stats.failures.map((row) => [row.code, count(row.count)])}
      />
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <Card>
      <dt className="text-faint text-sm">{name}</dt>
      <dd className="font-semibold text-xl tabular-nums">{value}</dd>
    </Card>
  );
}

function Table({ caption, head, rows }: { caption: string; head: string[]; rows: string[][] }) {
  if (rows.length === 0) return null;
  return (
    <table className="w-full max-w-2xl text-sm">
      <caption className="mb-1 text-start font-semibold">{caption}</caption>
      <thead>
        <tr className="border-line border-b text-faint">
          {head.map((name, index) => (
            <th key={name} className={`py-1 font-normal ${index ? "text-end" : "text-start"}`}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row[0]} className="border-line border-b">
            {row.map((cell, index) => (
              <td key={head[index]} className={`py-1 ${index ? "text-end tabular-nums" : ""}`}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
