import type { Json, TraceLine } from "../../api/types";
import { ForWriters } from "../../kit/ForWriters";
import { count, duration, readable, shortTime, usd } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Badge, Button } from "../../kit/parts";
import { ModelContext } from "./ModelContext";
import { Pre } from "./Pre";
import { kindWords, phrase } from "./phrase";
import { askedAt } from "./reading";

interface TimelineRowProps {
  line: TraceLine;
  isOpen: boolean;
  onToggle: () => void;
  onFork: () => void;
}

/** One event: a line that says what happened, and everything the journal has of it when opened. */
export function TimelineRow({ line, isOpen, onToggle, onFork }: TimelineRowProps) {
  return (
    <div className="border-line border-b">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex w-full cursor-pointer items-baseline gap-2 px-3 py-1.5 text-start text-sm hover:bg-page"
      >
        <span className="w-10 shrink-0 text-end text-faint text-xs tabular-nums">{line.seq}</span>
        <span className="shrink-0">
          <Badge tone={toneOf(line)}>{kindWords(line.kind)}</Badge>
        </span>
        {line.subtask ? <span className="shrink-0 text-faint text-xs">{line.subtask}</span> : null}
        {line.role && line.role !== "main" ? (
          <span className="hidden shrink-0 text-faint text-xs sm:inline">{line.role}</span>
        ) : null}
        <span className="min-w-0 flex-1 truncate">{phrase(line)}</span>
        <span className="hidden shrink-0 text-faint text-xs tabular-nums sm:inline">{figures(line)}</span>
      </button>
      {isOpen ? <Details line={line} onFork={onFork} /> : null}
    </div>
  );
}

function toneOf(line: TraceLine): "plain" | "good" | "warn" | "bad" | "accent" {
  if (line.error || line.kind === "ModelFailed" || line.kind === "ToolUnsettled") return "bad";
  if (line.kind === "ApprovalAsked" || line.kind === "QuestionAsked") return "warn";
  if (line.kind === "ReportWritten" || line.kind === "SubtaskConcluded") return "good";
  return line.kind.startsWith("Model") || line.kind.startsWith("Tool") ? "accent" : "plain";
}

function figures(line: TraceLine): string {
  const parts: string[] = [];
  if (line.tokens) parts.push(`${count(line.tokens)} tok`);
  if (line.cost_usd) parts.push(usd(line.cost_usd));
  if (line.duration_ms !== null) parts.push(duration(line.duration_ms));
  return parts.join(" · ");
}

function Details({ line, onFork }: { line: TraceLine; onFork: () => void }) {
  const say = useWords();
  const asked = askedAt(line);
  return (
    <div className="space-y-2 bg-page px-3 py-2 text-sm">
      <p className="flex flex-wrap items-center gap-x-3 text-faint text-xs">
        <time dateTime={line.at}>{shortTime(line.at)}</time>
        <span>{line.state}</span>
        {line.step !== null ? <span>{say("timeline.step", { step: line.step })}</span> : null}
        <span>{figures(line)}</span>
        <ForWriters>
          <Button look="quiet" onClick={onFork}>
            {say("action.forkHere")}
          </Button>
        </ForWriters>
      </p>
      <Block name={say("timeline.arguments")} value={line.arguments} />
      <Block name={say("timeline.result")} value={line.result} />
      <Block name={say("timeline.error")} value={line.error ? { ...line.error } : null} />
      {asked === null ? null : <ModelContext seq={asked} />}
      <details>
        <summary className="cursor-pointer text-faint text-xs">{say("timeline.everything")}</summary>
        <Pre>{readable(line.data)}</Pre>
      </details>
    </div>
  );
}

function Block({ name, value }: { name: string; value: Json }) {
  if (value === null || value === "") return null;
  return (
    <div>
      <h4 className="text-faint text-xs">{name}</h4>
      <Pre>{readable(value)}</Pre>
    </div>
  );
}
