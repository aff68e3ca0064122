import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { readable, shortTime } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Modal } from "../../kit/Modal";
import { Empty, ErrorNote, Loading } from "../../kit/parts";
import { Pre } from "../runs/Pre";
import { failedCallsQuery, type Wanted } from "./queries";

interface FailedCallsProps {
  wanted: Wanted;
  tool: string;
  onClose: () => void;
}

/** The calls of a tool that failed: what was asked, why it failed, and the way to where it happened. */
export function FailedCallsSheet({ wanted, tool, onClose }: FailedCallsProps) {
  const say = useWords();
  const failed = useQuery(failedCallsQuery(wanted, tool));
  return (
    <Modal side open onClose={onClose} title={say("stats.failedCalls", { tool })}>
      {failed.error ? <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} /> : null}
      {failed.isPending ? <Loading /> : null}
      {failed.data?.calls.length === 0 ? <Empty title={say("stats.noFailedCalls")} /> : null}
      <ul className="space-y-3 text-sm">
        {failed.data?.calls.map((call) => (
          <li key={`${call.run_id} ${call.seq}`} className="rounded-lg border border-line p-3">
            <p className="font-medium text-bad">{call.error.detail || call.error.code}</p>
            <p className="mb-2 text-faint text-xs">
              {call.error.code} · <time dateTime={call.at}>{shortTime(call.at)}</time> ·{" "}
              <Link
                to="/runs/$runId"
                params={{ runId: call.run_id }}
                search={{ tab: "timeline", seq: call.seq }}
                className="text-accent underline"
              >
                {say("stats.toCall")}
              </Link>
            </p>
            <Pre>{call.raw ?? readable(call.arguments)}</Pre>
          </li>
        ))}
      </ul>
    </Modal>
  );
}
