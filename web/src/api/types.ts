/** The shapes the page reads, under the names it uses for them; they come from the gateway's OpenAPI document. */
export type {
  Claim,
  Json,
  ListedRun as RunListed,
  ListedTask as TaskListed,
  ListedThread as ThreadListed,
  ListedTool as ToolListed,
  PlannedSubtask as Planned,
  Problem,
  ReportDocument as Report,
  RunDocument,
  Source,
  State as RunStateName,
  ThreadDocument,
  TraceLine,
  WorkedSubtask as Subtask,
} from "./generated";

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
