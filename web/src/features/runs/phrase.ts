import type { TraceLine } from "../../api/types";
import { share, shortened } from "../../kit/format";
import { say, sayValue } from "../../kit/i18n";

const MOST = 160;

function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  return shortened(typeof value === "string" ? value : JSON.stringify(value), MOST);
}

function errorOf(line: TraceLine): string {
  const { error } = line;
  return error ? text(error.detail || error.code) : "";
}

/** What an event says in one line. */
export function phrase(line: TraceLine): string {
  const { data } = line;
  switch (line.kind) {
    case "StateEntered":
      return `${data.source} → ${data.target}${data.reason ? ` · ${text(data.reason)}` : ""}`;
    case "ModelAnswered":
      return text(line.result) || calls(line);
    case "ToolRequested":
      return `${line.tool ?? ""} ${text(line.arguments)}`;
    case "ToolAnswered":
      return line.error
        ? `${line.tool ?? ""}: ${errorOf(line)}`
        : `${line.tool ?? ""} ${text(line.arguments)}`;
    case "PlanMade":
      return say("phrase.plan", { count: Array.isArray(data.subtasks) ? data.subtasks.length : 0 });
    case "SubtaskConcluded":
      return say("phrase.findings", {
        subtask: String(data.subtask),
        count: Array.isArray(data.conclusions) ? data.conclusions.length : 0,
      });
    case "SubtaskReviewed":
      return `${data.subtask}: ${data.verdict} ${text(data.reasons)}`;
    case "Told":
      return `${data.sender}: ${text(data.body)}`;
    case "ReportWritten":
      return text((data.report as { title?: string } | null)?.title);
    case "ShadowCompared":
      return compared(line);
    default:
      return errorOf(line) || firstWords(line);
  }
}

function compared({ data }: TraceLine): string {
  const { selector, verdict, overlap, detail } = data;
  const told = `${selector} · ${sayValue("verdict", String(verdict))}`;
  if (verdict === "differed")
    return `${told} · ${say("shadow.inCommon", { share: share(Number(overlap ?? 0), 1) })}`;
  return verdict === "agreed" ? told : `${told} · ${text(detail)}`;
}

function calls(line: TraceLine): string {
  const asked = line.data.tool_calls;
  if (!Array.isArray(asked)) return "";
  return asked.map((call) => (call as { name?: string })?.name ?? "?").join(", ");
}

const SPEAKING = ["text", "reason", "detail", "subject", "comment", "input", "limit", "subtask", "by"];

function firstWords(line: TraceLine): string {
  const field = SPEAKING.find((name) => typeof line.data[name] === "string" && line.data[name]);
  return field ? text(line.data[field]) : "";
}

/** The kind of an event in words: `ToolSettled` is "tool settled" when there are none of its own. */
export function kindWords(kind: string): string {
  return sayValue("kind", kind, kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase());
}
