import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Stats } from "../../api/types";
import { count, share, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Card, Empty, ErrorNote, Loading, PageTitle } from "../../kit/parts";
import { Choice } from "./Choice";
import { FailedCallsSheet } from "./FailedCalls";
import { statsQuery, type Wanted } from "./queries";
import { StatsTables } from "./StatsTables";

const Plot = lazy(() => import("./Plot"));

/** What runs have used and how they went. */
export function StatsPage() {
  const say = useWords();
  const [wanted, setWanted] = useState<Wanted>({ since: "7d", task: "", ofAll: false });
  const [tool, setTool] = useState<string | null>(null);
  const stats = useQuery(statsQuery(wanted));
  return (
    <>
      <PageTitle
        aside={
          <Choice
            wanted={wanted}
            tasks={stats.data?.by_task.map((row) => row.task) ?? []}
            onChange={setWanted}
          />
        }
      >
        {say("nav.stats")}
      </PageTitle>
      {stats.error ? <ErrorNote error={stats.error} onRetry={() => void stats.refetch()} /> : null}
      {stats.isPending ? <Loading /> : null}
      {stats.data ? <Shown stats={stats.data} onTool={setTool} /> : null}
      {tool === null ? null : <FailedCallsSheet wanted={wanted} tool={tool} onClose={() => setTool(null)} />}
    </>
  );
}

function Shown({ stats, onTool }: { stats: Stats; onTool: (tool: string) => void }) {
  const say = useWords();
  const { total } = stats;
  if (total.runs === 0) return <Empty title={say("stats.empty")} />;
  const before = share(total.fit_before_repair, total.structured_answers);
  const after = share(total.fit_after_repair, total.structured_answers);
  return (
    <div className="space-y-6">
      {stats.is_whole ? null : (
        <p className="text-faint text-sm">{say("stats.cut", { count: total.runs })}</p>
      )}
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure name={say("stats.runs")} value={count(total.runs)} />
        <Figure name={say("stats.completed")} value={share(total.completed, total.runs)} />
        <Figure name={say("run.tokens")} value={count(total.tokens)} />
        <Figure name={say("run.money")} value={usd(total.cost_usd)} />
        <Figure name={say("run.steps")} value={count(total.steps)} />
        <Figure
          name={say("stats.toolSuccess")}
          value={share(total.tool_calls - total.tool_failures, total.tool_calls)}
        />
        <Figure name={say("stats.repairs")} value={before === after ? before : `${before} → ${after}`} />
        <Figure name={say("stats.loopStops")} value={count(total.loop_stops)} />
      </dl>
      {stats.by_day.length > 1 ? (
        <Suspense fallback={<Loading />}>
          <Plot days={stats.by_day} />
        </Suspense>
      ) : null}
      <StatsTables stats={stats} onTool={onTool} />
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <Card className="flex flex-col justify-between">
      <dt className="text-faint text-sm">{name}</dt>
      <dd className="font-semibold text-xl tabular-nums">{value}</dd>
    </Card>
  );
}
