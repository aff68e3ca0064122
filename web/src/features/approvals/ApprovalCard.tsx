import { useId, useState } from "react";
import { useDecision } from "../../api/queries";
import type { Json } from "../../api/types";
import { ForWriters, ReadOnly } from "../../kit/ForWriters";
import { readable, shortTime } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Badge, Button, ErrorNote, INPUT } from "../../kit/parts";
import { Pre } from "../runs/Pre";
import type { OpenTicket } from "../runs/reading";
import { subjectWords } from "../runs/waiting";
import { PlanShown, questionsOf } from "./PlanShown";

interface ToolCallShown {
  tool: string;
  arguments: { [key: string]: Json };
  effect: string | null;
  version: string | null;
}

function asToolCall(shown: Json): ToolCallShown | null {
  const isObject = shown !== null && typeof shown === "object" && !Array.isArray(shown);
  return isObject && typeof shown.tool === "string" && typeof shown.arguments === "object"
    ? (shown as unknown as ToolCallShown)
    : null;
}

/** Exactly what will go on when a person agrees, with the means to change it, refuse it and say why. */
export function ApprovalCard({ runId, request }: { runId: string; request: OpenTicket }) {
  const say = useWords();
  const decide = useDecision(runId);
  const call = asToolCall(request.shown);
  const [edited, setEdited] = useState<string | null>(null);
  const [comment, setComment] = useState("");
  const [problem, setProblem] = useState("");
  const heading = useId();
  const approve = () => {
    const edit = edited === null ? undefined : parsed(edited);
    if (edit === null) return setProblem(say("approval.badJson"));
    if (edit !== undefined && !isExact(edit)) return setProblem(say("approval.longNumber"));
    setProblem("");
    decide.mutate({ ticket: request.ticket, decision: "approve", edit });
  };
  const reject = () => decide.mutate({ ticket: request.ticket, decision: "reject", comment });
  return (
    <section aria-labelledby={heading} className="rounded-lg border-2 border-warn bg-card p-4">
      <h3 id={heading} className="flex flex-wrap items-center gap-2 font-semibold">
        {call
          ? say("approval.tool", { tool: call.tool })
          : say("approval.step", { subject: subjectWords(request.subject) })}
        {call?.effect ? <Badge tone={call.effect === "read" ? "plain" : "warn"}>{call.effect}</Badge> : null}
      </h3>
      {request.expiresAt ? (
        <p className="text-faint text-xs">{say("approval.expires", { at: shortTime(request.expiresAt) })}</p>
      ) : null}
      <div className="my-2">
        {edited === null ? (
          <Shown call={call} shown={request.shown} />
        ) : (
          <textarea
            className={`${INPUT} min-h-40 font-mono text-xs`}
            aria-label={say("approval.edit")}
            value={edited}
            onChange={(change) => setEdited(change.target.value)}
          />
        )}
      </div>
      <ForWriters instead={<ReadOnly />}>
        <textarea
          className={`${INPUT} mb-2 min-h-10 text-sm`}
          placeholder={say("approval.comment")}
          aria-label={say("approval.comment")}
          rows={1}
          value={comment}
          onChange={(change) => setComment(change.target.value)}
        />
        {problem ? <p className="text-bad text-sm">{problem}</p> : null}
        {decide.error ? <ErrorNote error={decide.error} /> : null}
        <div className="flex flex-wrap gap-2">
          <Button look="primary" disabled={decide.isPending} onClick={approve}>
            {say(edited === null ? "action.approve" : "action.approveEdited")}
          </Button>
          <Button look="danger" disabled={decide.isPending} onClick={reject}>
            {say("action.reject")}
          </Button>
          {call ? (
            <Button look="quiet" onClick={() => setEdited(edited === null ? readable(call.arguments) : null)}>
              {say(edited === null ? "action.edit" : "action.undoEdit")}
            </Button>
          ) : null}
        </div>
      </ForWriters>
    </section>
  );
}

/** Of a call all its arguments, whatever they look like; of a plan its questions first. */
function Shown({ call, shown }: { call: ToolCallShown | null; shown: Json }) {
  if (call) return <Pre>{readable(call.arguments)}</Pre>;
  return questionsOf(shown).length ? <PlanShown shown={shown} /> : <Pre>{readable(shown)}</Pre>;
}

function parsed(text: string): Json | null {
  try {
    const value = JSON.parse(text) as Json;
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether no number in it was rounded when it was read: a browser holds whole numbers exactly up to 2^53. */
function isExact(value: Json): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return value === null || typeof value !== "object" || Object.values(value).every(isExact);
}
