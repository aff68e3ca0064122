import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Tabs } from "radix-ui";
import { useEffect, useMemo } from "react";
import type { JournalView } from "../../api/journal";
import { isActive, runQuery, useFork } from "../../api/queries";
import type { RunDocument } from "../../api/types";
import { useWords, type Word } from "../../kit/i18n";
import { ErrorNote, Loading } from "../../kit/parts";
import { Requests } from "../approvals/Requests";
import { TasksButton } from "../tasks/TasksSheet";
import { Plan } from "./Plan";
import { ReportView } from "./ReportView";
import { RunHeader } from "./RunHeader";
import { newsOfTasks, openRequests } from "./reading";
import { Speaking } from "./Speaking";
import { Spent } from "./Spent";
import { Timeline } from "./Timeline";
import { useJournal } from "./useJournal";

const route = getRouteApi("/runs/$runId");

const TABS: { value: string; word: Word }[] = [
  { value: "report", word: "run.report" },
  { value: "plan", word: "run.plan" },
  { value: "timeline", word: "run.timeline" },
  { value: "cost", word: "run.cost" },
];

/** One run: where it stands, what it waits for, what it found, and every step that led there. */
export function RunPage() {
  const { runId } = route.useParams();
  return <OneRun key={runId} runId={runId} />;
}

function OneRun({ runId }: { runId: string }) {
  const run = useQuery(runQuery(runId));
  const journal = useJournal(runId, run.data !== undefined && isActive(run.data));
  useFresh(runId, journal);
  const requests = useMemo(() => openRequests(journal.lines), [journal.lines]);
  const news = useMemo(() => newsOfTasks(journal.lines), [journal.lines]);
  if (run.error && !run.data) return <ErrorNote error={run.error} onRetry={() => void run.refetch()} />;
  if (!run.data) return <Loading />;
  return (
    <article>
      <RunHeader
        run={run.data}
        connection={journal.connection}
        aside={<TasksButton threadId={run.data.thread_id} news={news} />}
      />
      {journal.problem ? <ErrorNote error={journal.problem} /> : null}
      <Requests runId={runId} requests={requests} />
      <Speaking speaking={journal.speaking} />
      <Parts run={run.data} journal={journal} />
    </article>
  );
}

function Parts({ run, journal }: { run: RunDocument; journal: JournalView }) {
  const say = useWords();
  const navigate = useNavigate();
  const { tab, seq } = route.useSearch();
  const fork = useFork(run.run_id);
  const shown =
    tab ??
    (seq !== undefined
      ? "timeline"
      : run.report || run.answer
        ? "report"
        : run.plan.length
          ? "plan"
          : "timeline");
  const show = (search: { tab?: string; seq?: number }) =>
    navigate({ to: "/runs/$runId", params: { runId: run.run_id }, search, replace: true });
  const forkAt = (position: number) =>
    fork.mutate(position, {
      onSuccess: (forked) => void navigate({ to: "/runs/$runId", params: { runId: forked.run_id } }),
    });
  return (
    <Tabs.Root value={shown} onValueChange={(value) => void show({ tab: value })}>
      <Tabs.List className="mb-3 flex gap-1 border-line border-b text-sm" aria-label={say("run.parts")}>
        {TABS.map(({ value, word }) => (
          <Tabs.Trigger
            key={value}
            value={value}
            // Who clicks the part that is open already wants to stay there when the answer comes.
            onClick={() => tab === undefined && seq === undefined && void show({ tab: value })}
            className="-mb-px cursor-pointer border-transparent border-b-2 px-3 py-2 text-faint data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {say(word)}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {fork.error ? <ErrorNote error={fork.error} /> : null}
      <Tabs.Content value="report">
        <ReportView
          run={run}
          lines={journal.lines}
          onStep={(position) => void show({ tab: "timeline", seq: position })}
        />
      </Tabs.Content>
      <Tabs.Content value="plan">
        <Plan run={run} />
      </Tabs.Content>
      <Tabs.Content value="timeline">
        <Timeline key={seq} journal={journal} seq={seq} onFork={forkAt} />
      </Tabs.Content>
      <Tabs.Content value="cost">
        <Spent run={run} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** Read the run's document again when its journal has grown: at most once a second, and at once when its state changes. */
function useFresh(runId: string, journal: JournalView): void {
  const client = useQueryClient();
  const last = journal.lines.at(-1);
  const state = last?.state;
  const beat = last ? Math.floor(new Date(last.at).getTime() / 1000) : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: state and beat are what makes the document stale
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ["run", runId] });
  }, [client, runId, state, beat]);
}
