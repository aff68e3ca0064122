import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, newKey, post, remove } from "./client";
import type {
  BackgroundTask,
  Json,
  RunDocument,
  RunListed,
  TaskListed,
  TaskPage,
  ThreadDocument,
  ThreadListed,
} from "./types";

/** Where nothing is streamed: every 3 s while something is at work, every 15 s otherwise, never while hidden. */
export const BUSY_MS = 3_000;
export const IDLE_MS = 15_000;

const ACTIVE = new Set(["INIT", "PLANNING", "EXECUTING", "REVIEWING", "WAITING", "PAUSED"]);
const WORKING = new Set(["submitting", "working", "input_required", "cancelling"]);

export const isActive = (run: Pick<RunListed, "state">): boolean => ACTIVE.has(run.state);
export const isOpen = (task: Pick<BackgroundTask, "status">): boolean => WORKING.has(task.status);

const id = encodeURIComponent;

export interface RunsWanted {
  state?: string;
  task?: string;
  thread?: string;
}

export const runsQuery = (wanted: RunsWanted = {}) =>
  queryOptions({
    queryKey: ["runs", wanted],
    queryFn: ({ signal }) => {
      const asked = new URLSearchParams();
      if (wanted.state) asked.set("state", wanted.state);
      if (wanted.task) asked.set("task", wanted.task);
      if (wanted.thread) asked.set("thread", wanted.thread);
      return call<{ runs: RunListed[] }>(`/api/runs?${asked}`, { signal });
    },
    refetchInterval: (query) => (query.state.data?.runs.some(isActive) ? BUSY_MS : IDLE_MS),
  });

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => call<RunDocument>(`/api/runs/${id(runId)}`, { signal }),
  });

export const threadsQuery = () =>
  queryOptions({
    queryKey: ["threads"],
    queryFn: ({ signal }) => call<{ threads: ThreadListed[] }>("/api/threads", { signal }),
    refetchInterval: IDLE_MS,
  });

export const threadQuery = (threadId: string) =>
  queryOptions({
    queryKey: ["thread", threadId],
    queryFn: ({ signal }) => call<ThreadDocument>(`/api/threads/${id(threadId)}`, { signal }),
  });

export const tasksQuery = (threadId: string) =>
  queryOptions({
    queryKey: ["background-tasks", threadId],
    queryFn: ({ signal }) => call<TaskPage>(`/api/threads/${id(threadId)}/background-tasks`, { signal }),
    refetchInterval: (query) => (query.state.data?.background_tasks.some(isOpen) ? BUSY_MS : IDLE_MS),
  });

/** What one run can be told to do. */
export type Signal = "pause" | "resume" | "cancel" | "say" | "answer" | "limits";

export function useSignal(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ verb, body }: { verb: Signal; body?: Record<string, Json> }) =>
      post<RunDocument>(`/api/runs/${id(runId)}/${verb}`, body),
    onSuccess: (run) => remember(client, run),
  });
}

export interface Decision {
  ticket: string;
  decision: "approve" | "reject";
  edit?: Json;
  comment?: string;
}

export function useDecision(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ ticket, ...body }: Decision) =>
      post<RunDocument>(`/api/approvals/${id(ticket)}`, { run_id: runId, ...body }),
    onSuccess: (run) => remember(client, run),
  });
}

export interface Start {
  task: string;
  input: string;
  threadId?: string;
  strategy?: "reject" | "enqueue" | "interrupt";
}

export function useStart() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ task, input, threadId, strategy, key }: Start & { key: string }) => {
      const path = threadId ? `/api/threads/${id(threadId)}/runs` : "/api/runs";
      const body = threadId ? { task, input, multitask_strategy: strategy ?? "enqueue" } : { task, input };
      return post<RunDocument>(path, body, key);
    },
    onSuccess: (run) => {
      remember(client, run);
      void client.invalidateQueries({ queryKey: ["threads"] });
      void client.invalidateQueries({ queryKey: ["thread", run.thread_id] });
    },
  });
}

export function useFork(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (at: number) => post<RunDocument>(`/api/runs/${id(runId)}/fork`, { at }, newKey()),
    onSuccess: (run) => remember(client, run),
  });
}

export function useDeleteThread() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (threadId: string) => remove(`/api/threads/${id(threadId)}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["threads"] }),
  });
}

function remember(client: QueryClient, run: RunDocument): void {
  client.setQueryData(["run", run.run_id], run);
  void client.invalidateQueries({ queryKey: ["runs"] });
}

/** The task files the gateway can start. */
export const definitionsQuery = () =>
  queryOptions({
    queryKey: ["tasks"],
    queryFn: ({ signal }) => call<{ tasks: TaskListed[] }>("/api/tasks", { signal }),
    staleTime: 60_000,
  });
