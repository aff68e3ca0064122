// Made from docs/reference/openapi.json by `npm run types`. Do not edit.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonValue = Json
/**
 * Where a run stands, in steps that mean something to a person: when it is entered; what is done in it; when it is left.
 * 
 * INIT: when the run is created; nothing yet; as soon as a worker begins.
 * PLANNING: for the first plan, or when one was refused; a planner plans, hooks and people may refuse; when a plan is adopted.
 * EXECUTING: with a plan, or with the input alone; models and tools work; when work is to be judged, planned anew or finished.
 * REVIEWING: when a subtask or the report is to be judged; a reviewer judges, other subtasks go on; with the verdict.
 * WAITING: when nothing can advance without a person or a task; nothing, and no time counts; to where it was, once it can go on.
 * PAUSED: when a person asked, and calls in flight have ended; nothing, and no time counts; to where it was, when resumed.
 * COMPLETED: when the workflow is done, or a limit is reached; the result is kept, full or partial; never.
 * FAILED: when the run cannot go on; nothing, what was done is kept; to where it was, when resumed.
 * CANCELLED: when a person cancelled; nothing, calls in flight were killed; never.
 */
export type State = ("INIT" | "PLANNING" | "EXECUTING" | "REVIEWING" | "WAITING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED")
/**
 * What an entry is: a passage that was read, a fact, a conclusion of a run, or what somebody asked to be remembered.
 */
export type MemoryKind = ("page" | "fact" | "conclusion" | "note")
/**
 * Where the notification of a background task stands: when; what happens next.
 * 
 * none: nothing is to be told; the first event makes it pending.
 * pending: an event is to be told, now or when the conversation's run has ended; a worker claims it.
 * claimed: a worker holds the lease and looks at the conversation; it starts a run, tells a run that waits, or gives the lease back.
 * dispatched: a run tells it; the last commit of that run says how it ended.
 * retry: the run failed, or could not be started; it is claimed again after a growing wait.
 * delivered: the newest event was told; a newer event makes it pending.
 * dead_letter: it failed too often, or the conversation is gone; a person, or a newer event, makes it pending.
 */
export type Notification = ("none" | "pending" | "claimed" | "dispatched" | "retry" | "delivered" | "dead_letter")
/**
 * Where a background task stands.
 * 
 * `submitting`, `cancelling`, `unknown_outcome` (nobody knows whether the work was begun), `lost` (the other side does not know
 * it any more) and `moved` (it is followed from another store) are our words, the rest are the other side's.
 */
export type TaskStatus = ("submitting" | "cancelling" | "working" | "input_required" | "completed" | "failed" | "cancelled" | "unknown_outcome" | "lost" | "moved")
/**
 * Can the task be followed? It is degraded while the other side cannot be asked.
 */
export type Tracking = ("ok" | "degraded")

export interface Shapes {
Answer: Answer
AskedQuestion: AskedQuestion
Claim: Claim
ContextDocument: ContextDocument
ContextPart: ContextPart
DayFigures: DayFigures
Decision: Decision
FailedCall: FailedCall
FailedCalls: FailedCalls
FailureCount: FailureCount
Figures: Figures
Fork: Fork
FoundBy: FoundBy
Health: Health
Limits: Limits
ListedRun: ListedRun
ListedTask: ListedTask
ListedThread: ListedThread
ListedTool: ListedTool
MemoryKind: MemoryKind
MemoryList: MemoryList
ModelFigures: ModelFigures
NewRun: NewRun
NewRunAnywhere: NewRunAnywhere
NewThread: NewThread
Notification: Notification
NotificationState: NotificationState
PlannedSubtask: PlannedSubtask
PublicTask: PublicTask
Readiness: Readiness
Reason: Reason
ReasonCount: ReasonCount
RememberedEntry: RememberedEntry
ReportDocument: ReportDocument
RoleSpending: RoleSpending
RunConclusion: RunConclusion
RunDocument: RunDocument
RunError: RunError
RunLimits: RunLimits
RunList: RunList
RunSpending: RunSpending
Saying: Saying
Section: Section
SessionDocument: SessionDocument
ShadowDocument: ShadowDocument
ShadowExample: ShadowExample
ShadowReason: ShadowReason
ShadowSide: ShadowSide
ShadowSpent: ShadowSpent
ShadowVariant: ShadowVariant
ShownCall: ShownCall
SignIn: SignIn
Source: Source
State: State
StatsDocument: StatsDocument
SubtaskSpending: SubtaskSpending
TaskAnswer: TaskAnswer
TaskDetail: TaskDetail
TaskError: TaskError
TaskFigures: TaskFigures
TaskList: TaskList
TaskPage: TaskPage
TaskPreview: TaskPreview
TaskStatus: TaskStatus
ThreadDocument: ThreadDocument
ThreadList: ThreadList
ThreadMessage: ThreadMessage
ToolFigures: ToolFigures
ToolList: ToolList
TraceError: TraceError
TraceLine: TraceLine
TracePage: TracePage
Tracking: Tracking
WorkedSubtask: WorkedSubtask
Problem: Problem
}
/**
 * An answer to the open question of a run, or to the one named.
 */
export interface Answer {
text: string
question?: (string | null)
}
/**
 * Something a task asks: a form of this JSON Schema, an address to open, or what can only be declined.
 */
export interface AskedQuestion {
key: string
kind: ("form" | "url" | "unsupported")
message: string
schema: {
[k: string]: JsonValue
}
url: (string | null)
}
/**
 * What the report claims, the sources and steps it rests on, and how sure it is, from 0 to 1.
 * 
 * `is_new` is there where the run that this one continues had not found it.
 */
export interface Claim {
text: string
sources: string[]
steps: number[]
confidence: number
is_new?: (true | null)
}
/**
 * The context of one model call, made again from the journal; `is_as_recorded` says whether its digest is the one kept there.
 * 
 * `used_tokens` is what each part of the budget took.
 */
export interface ContextDocument {
run_id: string
seq: number
call: string
branch: string
role: string
model: string
purpose: string
is_as_recorded: boolean
digest: string
recorded_digest: string
max_tokens: number
used_tokens: {
[k: string]: number
}
tools: string[]
parts: ContextPart[]
}
/**
 * One message, from which event it is and why it was in; `tokens` as estimated.
 */
export interface ContextPart {
seq: number
kind: string
why: string
tokens: number
speaker: ("system" | "user" | "assistant" | "tool")
text: string
tool_calls?: (ShownCall[] | null)
tool_call_id?: (string | null)
tool_name?: (string | null)
reasoning?: (string | null)
}
/**
 * A call of a tool that the model had asked for.
 */
export interface ShownCall {
id: string
name: string
arguments: {
[k: string]: JsonValue
}
}
/**
 * The runs that began on one day (UTC).
 */
export interface DayFigures {
structured_answers: number
fit_before_repair: number
fit_after_repair: number
runs: number
completed: number
partial: number
failed: number
cancelled: number
steps: number
tokens: number
cost_usd: number
duration_ms: number
tool_calls: number
tool_failures: number
loop_steers: number
loop_stops: number
day: string
}
/**
 * What a person decided about a ticket: `edit` are other arguments for the call, a comment on a rejection reaches the model.
 * 
 * `run_id` names the run where tickets of several runs are called alike.
 */
export interface Decision {
decision: ("approve" | "reject")
edit?: ({
[k: string]: JsonValue
} | null)
comment?: string
run_id?: (string | null)
}
/**
 * A call that failed, and what was asked; `raw` is what a model sent that was no JSON object.
 */
export interface FailedCall {
run_id: string
seq: number
at: string
tool: string
arguments: {
[k: string]: JsonValue
}
raw: (string | null)
error: TraceError
}
/**
 * Why something did not go well. A call that was refused for its arguments says which fields, and shows a valid example.
 */
export interface TraceError {
code: string
detail: string
problems?: (string[] | null)
example?: ({
[k: string]: JsonValue
} | null)
}
/**
 * The calls of a period that failed, newest run first.
 */
export interface FailedCalls {
calls: FailedCall[]
}
/**
 * How often runs, models or tools failed of one reason, or a limit was reached.
 */
export interface FailureCount {
code: string
count: number
of: ("run" | "limit" | "model" | "tool")
}
/**
 * Sums over some runs. `duration_ms` is the time from start to end of those that have ended, waiting included.
 * 
 * `completed` holds the `partial` ones; `loop_stops` are conversations that were stopped for going round in circles.
 */
export interface Figures {
structured_answers: number
fit_before_repair: number
fit_after_repair: number
runs: number
completed: number
partial: number
failed: number
cancelled: number
steps: number
tokens: number
cost_usd: number
duration_ms: number
tool_calls: number
tool_failures: number
loop_steers: number
loop_stops: number
}
/**
 * The last event that is copied, and settings over what the run is pinned to.
 */
export interface Fork {
at: number
config?: {
[k: string]: JsonValue
}
}
/**
 * The query a source came from, and the step that asked it.
 */
export interface FoundBy {
step: number
query: string
}
/**
 * The process is there.
 */
export interface Health {
status: "ok"
}
/**
 * Limits of a run to be changed: `{"max_steps": 60}`; null lifts `max_tokens_total` and `max_cost_usd`.
 */
export interface Limits {
limits: {
[k: string]: JsonValue
}
}
/**
 * A run without its plan and report.
 */
export interface ListedRun {
run_id: string
thread_id: string
task: string
state: State
outcome: (("full" | "partial") | null)
input: string
subtasks: WorkedSubtask[]
steps: number
tokens: number
cost_usd: number
started_at: string
ended_at: (string | null)
waiting_for: string[]
error: (RunError | null)
}
/**
 * How far a subtask is.
 */
export interface WorkedSubtask {
id: string
state: string
rounds: number
remarks: string[]
conclusions: RunConclusion[]
open_questions: string[]
}
/**
 * What a subtask found, with the keys of the sources it rests on; confidence from 0 to 1.
 */
export interface RunConclusion {
id: string
claim: string
sources: string[]
quote: string
confidence: number
}
/**
 * Why a run failed, and what to do.
 */
export interface RunError {
code: string
detail: string
next: string
}
/**
 * A task that runs can be started of; `problem` says why it cannot be used as it stands.
 */
export interface ListedTask {
name: string
description: string
workflow: string
problem: (string | null)
}
/**
 * A conversation.
 */
export interface ListedThread {
thread_id: string
title: string
created_at: string
}
/**
 * A tool a task may name. `effect` is null where the tool declares none, or where only importing it would tell.
 */
export interface ListedTool {
name: string
effect: (string | null)
origin: string
replaces_built_in: boolean
}
/**
 * Entries of memory.
 */
export interface MemoryList {
memories: RememberedEntry[]
}
/**
 * An entry and where it comes from. `holds` is false once something newer took its place; answers to a query have a `score`.
 */
export interface RememberedEntry {
id: string
kind: MemoryKind
text: string
title: string
source: string
thread_id: (string | null)
run_id: (string | null)
position: (number | null)
subtasks: string[]
for: ("thread" | "user")
known_at: string
holds: boolean
superseded_by: (string | null)
expires_at: (string | null)
archived_at: (string | null)
score?: (number | null)
}
/**
 * The calls of one model.
 */
export interface ModelFigures {
structured_answers: number
fit_before_repair: number
fit_after_repair: number
model: string
calls: number
failed: number
tokens: number
cost_usd: number
duration_ms: number
}
/**
 * A run to be started: the name of a task, what it is to do, and settings over the configuration, nested or by dotted paths.
 * 
 * `multitask_strategy` says what becomes of it when the thread has a run that has not ended: it is refused, waits its turn, or
 * waits while the active run is cancelled.
 */
export interface NewRun {
task: string
input: string
config?: {
[k: string]: JsonValue
}
multitask_strategy?: ("reject" | "enqueue" | "interrupt")
}
/**
 * A run to be started in a thread, or in a new one.
 * 
 * `continues` names a run that has ended: start from what it found. Its task and input are then taken where none are given.
 */
export interface NewRunAnywhere {
task?: string
input?: string
config?: {
[k: string]: JsonValue
}
multitask_strategy?: ("reject" | "enqueue" | "interrupt")
thread_id?: (string | null)
continues?: (string | null)
}
/**
 * A conversation to be opened; without a title it is named after its first words.
 */
export interface NewThread {
title?: string
}
/**
 * How far the conversation of a task was told of it.
 */
export interface NotificationState {
state: Notification
failures: number
run_id: (string | null)
}
/**
 * A subtask as it was planned.
 */
export interface PlannedSubtask {
id: string
question: string
done_when: string
depends_on: string[]
}
/**
 * A background task in public: these seven fields and no others. `actions` is what may be done about it now.
 */
export interface PublicTask {
id: string
name: string
status: TaskStatus
tracking: Tracking
created_at: string
updated_at: string
actions: ("cancel" | "answer" | "redrive")[]
}
/**
 * Whether requests are served: is the store reachable, how many workers are at work here, is the server closing?
 */
export interface Readiness {
status: ("ready" | "not ready")
store: ("reachable" | "unreachable")
workers: number
workers_wanted: number
closing: boolean
}
/**
 * Why, for the record.
 */
export interface Reason {
reason?: string
}
/**
 * How often a tool's calls failed of one reason.
 */
export interface ReasonCount {
code: string
count: number
}
/**
 * A report.
 */
export interface ReportDocument {
title: string
question: string
summary: string
sections: Section[]
sources: Source[]
limits: string[]
outcome: string
}
/**
 * Claims under one heading.
 */
export interface Section {
heading: string
claims: Claim[]
}
/**
 * A source that the report cites; `quote` stands in its text, word for word.
 */
export interface Source {
id: string
title: string
url: string
quote: string
fetched_at: string
step: number
found_by: (FoundBy | null)
}
/**
 * What one role used.
 */
export interface RoleSpending {
steps: number
tokens: number
cost_usd: number
duration_ms: number
role: string
}
/**
 * A run. A research run ends with a `report`, a chat with an `answer`.
 */
export interface RunDocument {
run_id: string
thread_id: string
task: string
state: State
outcome: (("full" | "partial") | null)
input: string
subtasks: WorkedSubtask[]
steps: number
tokens: number
cost_usd: number
started_at: string
ended_at: (string | null)
waiting_for: string[]
error: (RunError | null)
spent: RunSpending
limits: RunLimits
plan: PlannedSubtask[]
answer: (string | null)
report: (ReportDocument | null)
}
/**
 * What a run used, each time the same sums in other parts. A fork counts from where it was forked.
 */
export interface RunSpending {
by_role: RoleSpending[]
by_subtask: SubtaskSpending[]
}
/**
 * What was used for one subtask; null stands for what belongs to none, like planning and the report.
 */
export interface SubtaskSpending {
steps: number
tokens: number
cost_usd: number
duration_ms: number
subtask: (string | null)
}
/**
 * The limits of a run as they stand; null where there is none.
 */
export interface RunLimits {
max_steps: number
max_wall_seconds: number
max_tokens_total: (number | null)
max_cost_usd: (number | null)
max_replans: number
}
/**
 * Runs, newest first.
 */
export interface RunList {
runs: ListedRun[]
}
/**
 * Something to say to a run. With `pin` every conversation of the run is shown it, also those that begin later.
 */
export interface Saying {
text: string
pin?: boolean
}
/**
 * Who a browser is here. `must_sign_in` is false where nobody need say who they are.
 */
export interface SessionDocument {
user: (string | null)
scopes: ("read" | "write" | "admin")[]
is_signed_in: boolean
must_sign_in: boolean
}
/**
 * The comparisons of the runs with a shadow that began in a period, and the tasks of those runs.
 */
export interface ShadowDocument {
since: string
runs: number
tasks: string[]
variants: ShadowVariant[]
}
/**
 * What one selector chose, compared with one variant. `agreement` and `overlap` are from 0 to 1, null where nothing was compared.
 * 
 * `own` and `shadow` are of the steps that were compared, `spent` is all the variant used.
 */
export interface ShadowVariant {
selector: string
variant: string
settings: {
[k: string]: JsonValue
}
last_at: string
comparisons: number
agreed: number
differed: number
failed: number
suppressed: number
uncompared: number
agreement: (number | null)
overlap: (number | null)
measures: string[]
own: ShadowSide
shadow: ShadowSide
spent: ShadowSpent
reasons: ShadowReason[]
examples: ShadowExample[]
}
/**
 * What one side took for the steps that were compared: the median and the 95th percentile of the time of a step.
 */
export interface ShadowSide {
tokens: number
cost_usd: (number | null)
p50_ms: (number | null)
p95_ms: (number | null)
}
/**
 * Tokens and cost together; the cost is null where none is known.
 */
export interface ShadowSpent {
tokens: number
cost_usd: (number | null)
}
/**
 * How often steps have no comparison for one reason.
 */
export interface ShadowReason {
code: string
count: number
}
/**
 * A step whose results differ: `seq` is the position of its own result, `shadow_seq` of the comparison.
 */
export interface ShadowExample {
run_id: string
seq: number
shadow_seq: number
step: string
own: string
shadow: string
overlap: (number | null)
}
/**
 * What is shown for a session: a token, or the code of a link to sign in.
 */
export interface SignIn {
token?: string
code?: string
}
/**
 * Sums over the runs that began in a period; `is_whole` is false where there were more than are counted.
 */
export interface StatsDocument {
since: string
is_whole: boolean
total: Figures
by_day: DayFigures[]
by_task: TaskFigures[]
by_model: ModelFigures[]
by_tool: ToolFigures[]
failures: FailureCount[]
}
/**
 * The runs of one task.
 */
export interface TaskFigures {
structured_answers: number
fit_before_repair: number
fit_after_repair: number
runs: number
completed: number
partial: number
failed: number
cancelled: number
steps: number
tokens: number
cost_usd: number
duration_ms: number
tool_calls: number
tool_failures: number
loop_steers: number
loop_stops: number
task: string
}
/**
 * The calls of one tool that have a result; `cached` ones were answered without another call.
 */
export interface ToolFigures {
tool: string
calls: number
failed: number
cached: number
duration_ms: number
failures: ReasonCount[]
}
/**
 * An answer to what a task asks: fields of its form, or words where it has one. `key` names one question of several.
 */
export interface TaskAnswer {
key?: (string | null)
action?: ("accept" | "decline")
content?: {
[k: string]: JsonValue
}
text?: (string | null)
}
/**
 * A background task with what it came to or asks, and how far its conversation was told.
 */
export interface TaskDetail {
id: string
name: string
status: TaskStatus
tracking: Tracking
created_at: string
updated_at: string
actions: ("cancel" | "answer" | "redrive")[]
message: string
result: (TaskPreview | null)
error: (TaskError | null)
questions: AskedQuestion[]
notification: NotificationState
}
/**
 * The beginning of what a task came to; `is_error` where that is the failure of the work itself.
 */
export interface TaskPreview {
preview: string
is_error: boolean
is_truncated: boolean
}
/**
 * Why a task failed.
 */
export interface TaskError {
code: string
detail: string
}
/**
 * Every task there is.
 */
export interface TaskList {
tasks: ListedTask[]
}
/**
 * Background tasks, newest first.
 */
export interface TaskPage {
background_tasks: PublicTask[]
}
/**
 * A conversation, what was said in it, and its runs that have not ended, the active one first.
 */
export interface ThreadDocument {
thread_id: string
title: string
created_at: string
unfinished: string[]
messages: ThreadMessage[]
}
/**
 * Something that was said, and in which run.
 */
export interface ThreadMessage {
run_id: string
speaker: ("user" | "assistant")
text: string
}
/**
 * Threads, newest first.
 */
export interface ThreadList {
threads: ListedThread[]
}
/**
 * Every tool there is.
 */
export interface ToolList {
tools: ListedTool[]
}
/**
 * One event of a run: what happened, in which state and step, at what cost. `data` is the event itself.
 */
export interface TraceLine {
seq: number
at: string
kind: string
state: State
step: (number | null)
subtask: (string | null)
role: (string | null)
tool: (string | null)
arguments: ({
[k: string]: JsonValue
} | null)
result: JsonValue
error: (TraceError | null)
tokens: (number | null)
cost_usd: (number | null)
duration_ms: (number | null)
data: {
[k: string]: JsonValue
}
}
/**
 * Some lines of a trace; `next` is the position to ask on from, null at the end.
 */
export interface TracePage {
lines: TraceLine[]
next: (number | null)
}
/**
 * What went wrong (RFC 9457). `code` never changes its meaning; `next` says what to do.
 */
export interface Problem {
type: string
title: string
status: number
code: string
detail: string
next: string
}
