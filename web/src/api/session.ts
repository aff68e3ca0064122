import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call, post, Refused, remove } from "./client";
import type { Session } from "./types";

const PLACE = "/api/session";
const IN_LINK = /^#code=(.+)$/;

let code = codeInAddress();

/** The code of the link that `outlast serve` prints; it is taken out of the address, where it would be kept and shown. */
function codeInAddress(): string {
  const found = IN_LINK.exec(window.location.hash)?.[1] ?? "";
  if (found) window.history.replaceState(window.history.state, "", window.location.pathname);
  return found;
}

/** Who this browser is here. A link that was opened signs it in first; one that is used up matters to nobody who is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => {
    const given = code;
    code = "";
    if (!given) return call<Session>(PLACE, { signal });
    try {
      return await post<Session>(PLACE, { code: given });
    } catch (refused) {
      const session = await call<Session>(PLACE);
      if (session.user === null) throw refused;
      return session;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** May the person at this browser do what takes this scope? */
export function useMay(scope: Session["scopes"][number]): boolean {
  const session = useQuery(sessionQuery);
  return session.data?.scopes.includes(scope) ?? false;
}

/** Sign in with a token. */
export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: string) => post<Session>(PLACE, { token }),
    onSuccess: (session) => become(client, session),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => remove<Session>(PLACE),
    onSuccess: (session) => become(client, session),
  });
}

/** Ask who is there again once the gateway does not know any more. */
export function noticeSignedOut(client: QueryClient, error: unknown): void {
  if (error instanceof Refused && error.problem.status === 401)
    void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

/** Nothing that one person has seen is kept for the next. */
function become(client: QueryClient, session: Session): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  client.setQueryData(sessionQuery.queryKey, session);
}
