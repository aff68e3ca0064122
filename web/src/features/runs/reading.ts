import type { Json, TraceLine } from "../../api/types";

/** Something a run waits for a person to decide. */
export interface OpenTicket {
  kind: "ticket";
  ticket: string;
  subject: string;
  shown: Json;
  expiresAt: string | null;
  line: TraceLine;
}

/** Something a run waits for a person to say. */
export interface OpenQuestion {
  kind: "question";
  question: string;
  text: string;
  choices: string[];
  line: TraceLine;
}

export type OpenRequest = OpenTicket | OpenQuestion;

const CLOSES_TICKET = new Set(["Approved", "Rejected", "TicketExpired", "TicketVoided"]);
const ENDS = new Set(["COMPLETED", "FAILED", "CANCELLED"]);

/** What is still open after these lines, oldest first. */
export function openRequests(lines: readonly TraceLine[]): OpenRequest[] {
  const open = new Map<string, OpenRequest>();
  for (const line of lines) {
    const { kind, data } = line;
    if (kind === "ApprovalAsked") {
      open.set(`t:${data.ticket}`, {
        kind: "ticket",
        ticket: String(data.ticket),
        subject: String(data.subject),
        shown: data.shown ?? null,
        expiresAt: typeof data.expires_at === "string" ? data.expires_at : null,
        line,
      });
    } else if (CLOSES_TICKET.has(kind)) open.delete(`t:${data.ticket}`);
    else if (kind === "QuestionAsked") {
      open.set(`q:${data.question}`, {
        kind: "question",
        question: String(data.question),
        text: String(data.text),
        choices: Array.isArray(data.choices) ? data.choices.map(String) : [],
        line,
      });
    } else if (kind === "Answered") open.delete(`q:${data.question}`);
    else if (kind === "ToolAnswered" || kind === "ToolRequested") closeCall(open, String(data.call));
    else if (kind === "StateEntered" && ENDS.has(String(data.target))) open.clear();
  }
  return [...open.values()];
}

/** What was asked about a call is closed by whatever becomes of the call. */
function closeCall(open: Map<string, OpenRequest>, call: string): void {
  for (const [key, request] of open) {
    const about = request.kind === "ticket" ? request.subject : `call:${request.line.data.call}`;
    if (about === `call:${call}`) open.delete(key);
  }
}

/** Kinds that keep the books and tell a reader little; hidden unless asked for. */
const BOOKKEEPING = new Set([
  "RunClaimed",
  "RunReleased",
  "ModelRequested",
  "BranchOpened",
  "RecallRequested",
  "HookRequested",
  "EndAwaited",
]);

export interface Filter {
  text: string;
  group: "all" | "models" | "tools" | "people" | "plan" | "shadow" | "problems";
  subtask: string;
  withBookkeeping: boolean;
}

export const EVERYTHING: Filter = { text: "", group: "all", subtask: "", withBookkeeping: false };

const PEOPLE = new Set([
  "Said",
  "Approved",
  "Rejected",
  "Answered",
  "ApprovalAsked",
  "QuestionAsked",
  "PauseRequested",
  "ResumeRequested",
  "CancelRequested",
  "LimitsChanged",
]);

function isIn(group: Filter["group"], line: TraceLine): boolean {
  switch (group) {
    case "all":
      return true;
    case "models":
      return line.kind.startsWith("Model");
    case "tools":
      return line.kind.startsWith("Tool");
    case "people":
      return PEOPLE.has(line.kind);
    case "plan":
      return /^(Plan|Subtask|State|Report|Told)/.test(line.kind);
    case "shadow":
      return line.kind === "ShadowCompared";
    case "problems":
      return line.error !== null || /Failed|Unsettled|Refused|Limit|Diverged/.test(line.kind);
  }
}

const found = new WeakMap<TraceLine, string>();

function searchable(line: TraceLine): string {
  let text = found.get(line);
  if (text === undefined) {
    text = JSON.stringify([
      line.kind,
      line.tool,
      line.arguments,
      line.result,
      line.error,
      line.data,
    ]).toLowerCase();
    found.set(line, text);
  }
  return text;
}

/** The lines a filter leaves, in order. */
export function filtered(lines: readonly TraceLine[], filter: Filter): TraceLine[] {
  const text = filter.text.trim().toLowerCase();
  return lines.filter(
    (line) =>
      (filter.withBookkeeping || text !== "" || !isBookkeeping(line)) &&
      isIn(filter.group, line) &&
      (filter.subtask === "" || line.subtask === filter.subtask) &&
      (text === "" || searchable(line).includes(text)),
  );
}

const isBookkeeping = (line: TraceLine): boolean =>
  BOOKKEEPING.has(line.kind) || (line.kind === "ToolRequested" && line.error === null);

/** The position at which a model was asked, for the event that asked it or that has its answer; null for others. */
export function askedAt(line: TraceLine): number | null {
  if (line.kind === "ModelRequested") return line.seq;
  if (line.kind !== "ModelAnswered" && line.kind !== "ModelFailed") return null;
  return Number(String(line.data.call).slice(1)) || null;
}

/** How often these lines told of background tasks: one began, one was heard of. */
export function newsOfTasks(lines: readonly TraceLine[]): number {
  return lines.filter(
    ({ kind, data }) =>
      kind === "TaskReported" ||
      kind === "TasksShown" ||
      (kind === "ToolAnswered" && Boolean((data.outcome as { task?: Json } | undefined)?.task)),
  ).length;
}
