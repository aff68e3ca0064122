import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, post } from "../../api/client";
import { IDLE_MS } from "../../api/queries";
import type { BackgroundTask, Json } from "../../api/types";

export interface TaskQuestion {
  key: string;
  kind: "form" | "url" | "unsupported";
  message: string;
  schema: { properties?: Record<string, Json>; required?: string[] };
  url: string | null;
}

export interface TaskDetail extends BackgroundTask {
  preview: string | null;
  questions: TaskQuestion[];
  notification: { status: string; error: string | null };
}

const id = encodeURIComponent;
const place = (threadId: string, taskId: string) =>
  `/api/threads/${id(threadId)}/background-tasks/${id(taskId)}`;

export const taskQuery = (threadId: string, taskId: string) =>
  queryOptions({
    queryKey: ["background-task", threadId, taskId],
    queryFn: ({ signal }) => call<TaskDetail>(place(threadId, taskId), { signal }),
  });

export const deadLettersQuery = () =>
  queryOptions({
    queryKey: ["dead-letters"],
    queryFn: ({ signal }) =>
      call<{ background_tasks: BackgroundTask[] }>("/api/background-tasks?status=dead_letter", { signal }),
    refetchInterval: IDLE_MS,
    retry: false,
  });

function useChange<T>(change: (given: T) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => {
      for (const key of ["background-task", "background-tasks", "dead-letters"]) {
        void client.invalidateQueries({ queryKey: [key] });
      }
    },
  });
}

export const useCancelTask = (threadId: string, taskId: string) =>
  useChange(() => post(`${place(threadId, taskId)}/cancel`));

export interface TaskAnswer {
  key: string;
  action: "accept" | "decline";
  content?: { [name: string]: Json };
}

export const useAnswerTask = (threadId: string, taskId: string) =>
  useChange((answer: TaskAnswer) => post(`${place(threadId, taskId)}/answer`, answer));

export const useRedrive = () =>
  useChange((taskId: string) => post(`/api/background-tasks/${id(taskId)}/redrive`));
