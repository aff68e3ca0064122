import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Refused } from "../api/client";
import { sayValue, useWords } from "./i18n";

type Tone = "plain" | "good" | "warn" | "bad" | "accent";

const TONES: Record<Tone, string> = {
  plain: "bg-page text-faint border-line",
  good: "bg-good-page text-good border-transparent",
  warn: "bg-warn-page text-warn border-transparent",
  bad: "bg-bad-page text-bad border-transparent",
  accent: "bg-accent-page text-accent border-transparent",
};

const STATE_TONES: Record<string, Tone> = {
  COMPLETED: "good",
  completed: "good",
  FAILED: "bad",
  failed: "bad",
  lost: "bad",
  unknown_outcome: "bad",
  CANCELLED: "plain",
  cancelled: "plain",
  moved: "plain",
  WAITING: "warn",
  PAUSED: "warn",
  input_required: "warn",
  cancelling: "warn",
};

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-block whitespace-nowrap rounded-full border px-2 text-xs leading-5 ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

/** The state of a run or the status of a task, in words and colour. */
export function StateBadge({
  kind,
  value,
  outcome,
}: {
  kind: "state" | "status";
  value: string;
  outcome?: string | null;
}) {
  const partial = outcome === "partial";
  return (
    <Badge tone={partial ? "warn" : (STATE_TONES[value] ?? "accent")}>
      {sayValue(kind, value)}
      {partial ? ` · ${sayValue("state", "partial")}` : ""}
    </Badge>
  );
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "plain" | "danger" | "quiet";
}

const LOOKS: Record<NonNullable<ButtonProps["look"]>, string> = {
  primary: "bg-accent text-accent-ink border-transparent",
  plain: "bg-card text-ink border-line hover:border-faint",
  danger: "bg-card text-bad border-line hover:border-bad",
  quiet: "bg-transparent text-faint border-transparent hover:text-ink",
};

export function Button({ look = "plain", className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`min-h-8 cursor-pointer rounded-md border px-3 py-1 text-sm disabled:cursor-not-allowed disabled:opacity-50 ${LOOKS[look]} ${className}`}
      {...rest}
    />
  );
}

export function Card({
  children,
  className = "",
  ...rest
}: {
  children: ReactNode;
  className?: string;
  role?: string;
  "aria-label"?: string;
}) {
  return (
    <section className={`rounded-lg border border-line bg-card p-4 ${className}`} {...rest}>
      {children}
    </section>
  );
}

export function PageTitle({ children, aside }: { children: ReactNode; aside?: ReactNode }) {
  return (
    <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
      <h1 className="font-semibold text-xl">{children}</h1>
      {aside}
    </div>
  );
}

/** What went wrong and what to do next, for a person. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const say = useWords();
  const problem = error instanceof Refused ? error.problem : null;
  return (
    <div role="alert" className="rounded-md bg-bad-page px-3 py-2 text-bad text-sm">
      <p className="font-medium">
        {problem?.detail || problem?.title || String((error as Error)?.message ?? error)}
      </p>
      {problem?.next ? <p>{problem.next}</p> : null}
      {problem?.code ? <p className="opacity-75">{problem.code}</p> : null}
      {onRetry ? (
        <Button className="mt-2" onClick={onRetry}>
          {say("action.retry")}
        </Button>
      ) : null}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="rounded-lg border border-line border-dashed p-8 text-center text-faint">
      <p className="font-medium text-ink">{title}</p>
      {children ? <div className="mt-1 text-sm">{children}</div> : null}
    </div>
  );
}

export function Loading() {
  const say = useWords();
  return (
    <p role="status" className="p-4 text-faint text-sm">
      {say("page.loading")}
    </p>
  );
}

interface FieldProps {
  label: string;
  children: ReactNode;
  hint?: string;
}

export function Field({ label, children, hint }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label className="block text-sm">
      <span className="mb-1 block text-faint">{label}</span>
      {children}
      {hint ? <span className="mt-1 block text-faint text-xs">{hint}</span> : null}
    </label>
  );
}

/** How anything that takes input looks; `INPUT` takes the whole width, `SELECT` as much as it needs. */
export const SELECT = "rounded-md border border-line bg-card px-3 py-2 text-ink placeholder:text-faint";
export const INPUT = `w-full ${SELECT}`;
