import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { runQuery } from "../../api/queries";
import type { RunDocument } from "../../api/types";
import { count, duration, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { ErrorNote, Loading, PageTitle, StateBadge } from "../../kit/parts";

const route = getRouteApi("/compare/$left/$right");

/** Two runs side by side. */
export function ComparePage() {
  const say = useWords();
  const { left, right } = route.useParams();
  const one = useQuery(runQuery(left));
  const other = useQuery(runQuery(right));
  const error = one.error ?? other.error;
  if (error) return <ErrorNote error={error} />;
  if (!one.data || !other.data) return <Loading />;
  const runs: [RunDocument, RunDocument] = [one.data, other.data];
  const claims = runs.map(
    (run) => new Set(run.report?.sections.flatMap((part) => part.claims.map((c) => c.text))),
  );
  return (
    <>
      <PageTitle>{say("compare.title")}</PageTitle>
      <div className="overflow-x-auto">
        <table className="w-full table-fixed break-words text-sm">
          <tbody>
            <Row name={say("run.id")} runs={runs} show={(run) => <RunLink run={run} />} />
            <Row name={say("compare.input")} runs={runs} show={(run) => run.input} />
            <Row name={say("run.task")} runs={runs} show={(run) => run.task} />
            <Row
              name={say("runs.state")}
              runs={runs}
              show={(run) => <StateBadge kind="state" value={run.state} outcome={run.outcome} />}
            />
            <Row name={say("run.steps")} runs={runs} show={(run) => count(run.steps)} />
            <Row name={say("run.tokens")} runs={runs} show={(run) => count(run.tokens)} />
            <Row name={say("run.money")} runs={runs} show={(run) => usd(run.cost_usd)} />
            <Row name={say("run.took")} runs={runs} show={took} />
            <Row
              name={say("run.plan")}
              runs={runs}
              show={(run) => run.plan.map((item) => <p key={item.id}>{item.question}</p>)}
            />
            <Row
              name={say("compare.claims")}
              runs={runs}
              show={(run, index) => (
                <Claims own={claims[index] ?? new Set()} others={claims[1 - index] ?? new Set()} run={run} />
              )}
            />
          </tbody>
        </table>
      </div>
    </>
  );
}

function RunLink({ run }: { run: RunDocument }) {
  return (
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className="text-accent underline">
      {run.run_id}
    </Link>
  );
}

const took = (run: RunDocument): string =>
  run.ended_at ? duration(new Date(run.ended_at).getTime() - new Date(run.started_at).getTime()) : "–";

interface RowProps {
  name: string;
  runs: [RunDocument, RunDocument];
  show: (run: RunDocument, index: number) => ReactNode;
}

function Row({ name, runs, show }: RowProps) {
  return (
    <tr className="border-line border-b align-top">
      <th scope="row" className="w-20 py-2 pe-3 text-start sm:w-32 font-normal text-faint">
        {name}
      </th>
      {runs.map((run, index) => (
        <td key={run.run_id} className="py-2 pe-3">
          {show(run, index)}
        </td>
      ))}
    </tr>
  );
}

function Claims({
  run,
  own,
  others,
}: {
  run: RunDocument;
  own: ReadonlySet<string>;
  others: ReadonlySet<string>;
}) {
  const say = useWords();
  if (!run.report) return <span className="text-faint">{say("report.none")}</span>;
  return (
    <ul className="space-y-1">
      {[...own].map((text) => (
        <li key={text} className={others.has(text) ? "" : "border-accent border-s-2 ps-2"}>
          {text}
          {others.has(text) ? null : (
            <span className="ms-1 text-accent text-xs">{say("compare.onlyHere")}</span>
          )}
        </li>
      ))}
    </ul>
  );
}
