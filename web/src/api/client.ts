import type { Problem } from "./types";

/** A request the gateway refused, with what to do next. Status 0: the gateway could not be reached. */
export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

async function refusal(response: Response): Promise<Refused> {
  const fallback: Problem = {
    type: "about:blank",
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
    code: "unexpected_answer",
    detail: `The gateway answered with status ${response.status}.`,
    next: "Look at the log of `outlast serve`.",
  };
  try {
    return new Refused({ ...fallback, ...(await response.json()) });
  } catch {
    return new Refused(fallback);
  }
}

/** Headers every request of the page carries; `extra` wins. */
export function headers(extra: Record<string, string> = {}): Record<string, string> {
  return { Accept: "application/json", ...extra };
}

/** Send a request and read JSON. Throws Refused. */
export async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      credentials: "same-origin",
      ...init,
      headers: headers(init.headers as never),
    });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new Refused({
      type: "about:blank",
      title: "Unreachable",
      status: 0,
      code: "gateway_unreachable",
      detail: "The gateway does not answer.",
      next: "See whether `outlast serve` is running; the page goes on by itself when it is back.",
    });
  }
  if (!response.ok) throw await refusal(response);
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T);
}

/** Change something: POST a JSON body. `key` makes a repeated request harmless. */
export function post<T>(path: string, body: unknown = {}, key?: string): Promise<T> {
  const extra: Record<string, string> = { "Content-Type": "application/json" };
  if (key) extra["Idempotency-Key"] = key;
  return call<T>(path, { method: "POST", body: JSON.stringify(body), headers: extra });
}

/** Delete something. */
export function remove<T = void>(path: string): Promise<T> {
  return call<T>(path, { method: "DELETE" });
}

/** A key for one wish of a person, the same however often the request is sent. */
export function newKey(): string {
  return crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
}
