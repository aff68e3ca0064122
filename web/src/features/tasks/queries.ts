import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { call, post } from "../../api/client";
import { IDLE_MS } from "../../api/queries";
import type { BackgroundTask, TaskAnswer, TaskDetail, TaskPage } from "../../api/types";

const id = encodeURIComponent;
const place = (threadId: string, taskId: string) =>
  `/api/threads/${id(threadId)}/background-tasks/${id(taskId)}`;

/** A task in full as it stood when it was listed last: what the list says has changed is read again. */
export const taskQuery = (threadId: string, listed: BackgroundTask) =>
  queryOptions({
    queryKey: ["background-task", threadId, listed.id, listed.updated_at, listed.status],
    queryFn: ({ signal }) => call<TaskDetail>(place(threadId, listed.id), { signal }),
    placeholderData: keepPreviousData,
  });

export const deadLettersQuery = () =>
  queryOptions({
    queryKey: ["dead-letters"],
    queryFn: ({ signal }) => call<TaskPage>("/api/background-tasks?status=dead_letter", { signal }),
    refetchInterval: IDLE_MS,
    retry: false,
  });

/** Read the list of a thread again when there is news of it, without waiting until it is asked for the next time. */
export function useFreshTasks(threadId: string, news: number): void {
  const client = useQueryClient();
  useEffect(() => {
    if (news > 0) void client.invalidateQueries({ queryKey: ["background-tasks", threadId] });
  }, [client, threadId, news]);
}

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

export const useAnswerTask = (threadId: string, taskId: string) =>
  useChange((answer: TaskAnswer) => post(`${place(threadId, taskId)}/answer`, answer));

export const useRedrive = () =>
  useChange((taskId: string) => post(`/api/background-tasks/${id(taskId)}/redrive`));
