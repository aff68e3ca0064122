/** The shapes the page reads. Names of our own for what `generated.ts` takes from the gateway's OpenAPI document. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type RunStateName =
  | "INIT"
  | "PLANNING"
  | "EXECUTING"
  | "REVIEWING"
  | "WAITING"
  | "PAUSED"
  | "COMPLETED"
  | "FAILED"
  | "CANCELLED";

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  next: string;
}

export interface Conclusion {
  id: string;
  claim: string;
  sources: string[];
  quote: string;
  confidence: number;
}

export interface Subtask {
  id: string;
  state: string;
  rounds: number;
  remarks: string[];
  conclusions: Conclusion[];
  open_questions: string[];
}

export interface Planned {
  id: string;
  question: string;
  done_when: string;
  depends_on: string[];
}

export interface Claim {
  text: string;
  sources: string[];
  steps: number[];
  confidence: number | null;
}

export interface Source {
  id: string;
  title: string;
  url: string;
  quote: string;
  fetched_at: string;
  step: number | null;
  found_by: { step: number | null; query: string } | null;
}

export interface Report {
  title: string;
  question: string;
  summary: string;
  sections: { heading: string; claims: Claim[] }[];
  sources: Source[];
  limits: string[];
  outcome: string;
}

export interface RunFailure {
  code: string;
  detail: string;
  next: string;
}

export interface RunListed {
  run_id: string;
  thread_id: string;
  task: string;
  state: RunStateName;
  outcome: string | null;
  input: string;
  subtasks: Subtask[];
  steps: number;
  tokens: number;
  cost_usd: number;
  started_at: string;
  ended_at: string | null;
  waiting_for: string[];
  error: RunFailure | null;
}

export interface RunDocument extends RunListed {
  plan: Planned[];
  answer: string | null;
  report: Report | null;
}

export interface TraceLine {
  seq: number;
  at: string;
  kind: string;
  state: RunStateName;
  step: number | null;
  subtask: string | null;
  role: string | null;
  tool: string | null;
  arguments: Json;
  result: Json;
  error: Json;
  tokens: number | null;
  cost_usd: number | null;
  duration_ms: number | null;
  data: { [key: string]: Json };
}

export interface ThreadListed {
  thread_id: string;
  title: string;
  created_at: string;
}

export interface ThreadDocument extends ThreadListed {
  messages: { run_id: string; speaker: "user" | "assistant"; text: string }[];
}

export type TaskStatus =
  | "submitting"
  | "working"
  | "input_required"
  | "completed"
  | "failed"
  | "cancelled"
  | "cancelling"
  | "unknown_outcome"
  | "lost";

export interface BackgroundTask {
  id: string;
  name: string;
  status: TaskStatus;
  tracking: "ok" | "degraded";
  created_at: string;
  updated_at: string;
  actions: string[];
}
