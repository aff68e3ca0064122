import { useWords } from "../../kit/i18n";
import type { OpenRequest } from "../runs/reading";
import { ApprovalCard } from "./ApprovalCard";
import { QuestionCard } from "./QuestionCard";

/** What a run waits for a person to decide or to say. */
export function Requests({ runId, requests }: { runId: string; requests: OpenRequest[] }) {
  const say = useWords();
  if (requests.length === 0) return null;
  return (
    <section aria-label={say("approval.section")} className="mb-4 space-y-3">
      {requests.map((request) =>
        request.kind === "ticket" ? (
          <ApprovalCard key={request.ticket} runId={runId} request={request} />
        ) : (
          <QuestionCard key={request.question} runId={runId} request={request} />
        ),
      )}
    </section>
  );
}
