import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../api/client";
import type { FailedCalls, Stats } from "../../api/types";

/** Which runs are counted. */
export interface Wanted {
  since: string;
  task: string;
  /** Those of everybody, for an admin. */
  ofAll: boolean;
}

/** Those runs, as the gateway is asked for them. */
export function asked({ since, task, ofAll }: Wanted, more: Record<string, string> = {}): URLSearchParams {
  return new URLSearchParams({
    since,
    ...(task ? { task } : {}),
    ...(ofAll ? { all: "true" } : {}),
    ...more,
  });
}

export const statsQuery = (wanted: Wanted) =>
  queryOptions({
    queryKey: ["stats", wanted],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => call<Stats>(`/api/stats?${asked(wanted)}`, { signal }),
  });

export const failedCallsQuery = (wanted: Wanted, tool: string) =>
  queryOptions({
    queryKey: ["stats", "failed-calls", wanted, tool],
    queryFn: ({ signal }) =>
      call<FailedCalls>(`/api/stats/failed-calls?${asked(wanted, { tool, limit: "50" })}`, { signal }),
  });
