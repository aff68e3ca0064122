import { useQuery } from "@tanstack/react-query";
import { ForWriters } from "../../kit/ForWriters";
import { shortTime } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Button, Empty, ErrorNote, Loading, PageTitle, StateBadge } from "../../kit/parts";
import { deadLettersQuery, useRedrive } from "./queries";

/** Notifications that could not be delivered, each to be sent again. */
export function DeadLettersPage() {
  const say = useWords();
  const dead = useQuery(deadLettersQuery());
  const redrive = useRedrive();
  return (
    <>
      <PageTitle>{say("dead.title")}</PageTitle>
      <p className="mb-3 max-w-2xl text-faint text-sm">{say("dead.hint")}</p>
      {dead.error ? <ErrorNote error={dead.error} onRetry={() => void dead.refetch()} /> : null}
      {redrive.error ? <ErrorNote error={redrive.error} /> : null}
      {dead.isPending ? <Loading /> : null}
      {dead.data?.background_tasks.length === 0 ? <Empty title={say("dead.none")} /> : null}
      <ul className="space-y-2">
        {dead.data?.background_tasks.map((task) => (
          <li key={task.id} className="flex items-center gap-3 rounded-lg border border-line bg-card p-3">
            <span className="min-w-0 flex-1">
              <span className="block font-medium">{task.name}</span>
              <span className="text-faint text-sm">{shortTime(task.updated_at)}</span>
            </span>
            <StateBadge kind="status" value={task.status} />
            <ForWriters>
              <Button disabled={redrive.isPending} onClick={() => redrive.mutate(task.id)}>
                {say("action.redrive")}
              </Button>
            </ForWriters>
          </li>
        ))}
      </ul>
    </>
  );
}
