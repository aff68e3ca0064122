import { createParser, type EventSourceMessage } from "eventsource-parser";
import { headers, Refused } from "./client";
import type { TraceLine } from "./types";

export type Connection = "connecting" | "open" | "waiting" | "ended" | "gone";

/** A piece of an answer while it is made; nothing of it is durable. */
export interface Delta {
  branch: string;
  role: string;
  text: string;
  reasoning: string;
}

export interface JournalView {
  lines: readonly TraceLine[];
  connection: Connection;
  speaking: ReadonlyMap<string, Delta>;
  problem: Refused | null;
}

const FIRST_WAIT_MS = 500;
const FINAL: ReadonlySet<Connection> = new Set(["ended", "gone"]);
const LONGEST_WAIT_MS = 15_000;

/**
 * The journal of one run as it grows, read from the gateway's event stream.
 *
 * A stream that breaks is opened again from the last position seen, so nothing is missing and nothing is there twice.
 */
export class Journal {
  private lines: TraceLine[] = [];
  private speaking = new Map<string, Delta>();
  private connection: Connection = "connecting";
  private problem: Refused | null = null;
  private view: JournalView = { lines: [], connection: "connecting", speaking: new Map(), problem: null };
  private readonly listeners = new Set<() => void>();
  private readonly aborted = new AbortController();
  private isOver = false;
  private failures = 0;
  private frame = 0;
  private wake: (() => void) | null = null;

  constructor(private readonly path: string) {}

  /** Be told when the view changes; the first listener opens the stream. */
  subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  /** What has been read so far; the same object until it changes. */
  snapshot = (): JournalView => this.view;

  /** Read until the run has ended or the journal is closed; called again, go on with a run that was taken up again. */
  async run(): Promise<void> {
    this.set("connecting");
    window.addEventListener("online", this.hurry);
    while (!this.aborted.signal.aborted && !FINAL.has(this.connection)) {
      await this.readOnce();
      if (this.connection === "waiting") await this.rest();
    }
    window.removeEventListener("online", this.hurry);
  }

  close(): void {
    this.aborted.abort();
    this.hurry();
    cancelAnimationFrame(this.frame);
  }

  private hurry = (): void => this.wake?.();

  private async readOnce(): Promise<void> {
    try {
      const response = await fetch(this.path, {
        credentials: "same-origin",
        headers: headers({ Accept: "text/event-stream", "Last-Event-ID": String(this.position) }),
        signal: this.aborted.signal,
        cache: "no-store",
      });
      if (response.status === 204) {
        this.set("ended");
        return;
      }
      if (!response.ok || !response.body) {
        this.refused(response.status, await response.json().catch(() => null));
        return;
      }
      this.set("open");
      await this.drain(response.body);
      this.set(this.isOver ? "ended" : "waiting");
    } catch {
      if (!this.aborted.signal.aborted) this.set("waiting");
    }
  }

  private async drain(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = createParser({ onEvent: (message) => this.take(message) });
    const reader = body
      .pipeThrough(new TextDecoderStream() as never)
      .getReader() as ReadableStreamDefaultReader<string>;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.failures = 0;
      parser.feed(value);
    }
  }

  private take(message: EventSourceMessage): void {
    if (message.id) this.add(JSON.parse(message.data) as TraceLine);
    else if (message.event === "delta") this.hear(JSON.parse(message.data) as Delta);
    else if (message.event === "resync") {
      this.lines = [];
      this.speaking = new Map();
    } else if (message.event === "end") this.isOver = true;
    this.changed();
  }

  private add(line: TraceLine): void {
    if (line.seq <= this.position) return;
    this.isOver = false;
    this.lines.push(line);
    if (line.kind === "ModelAnswered" || line.kind === "ModelFailed") this.speaking.clear();
  }

  private hear(delta: Delta): void {
    const before = this.speaking.get(delta.branch);
    this.speaking.set(delta.branch, {
      ...delta,
      text: (before?.text ?? "") + (delta.text ?? ""),
      reasoning: (before?.reasoning ?? "") + (delta.reasoning ?? ""),
    });
  }

  private refused(status: number, body: unknown): void {
    if (status === 401 || status === 403 || status === 404) {
      const given = (body ?? {}) as Partial<Refused["problem"]>;
      this.problem = new Refused({
        type: "about:blank",
        title: `HTTP ${status}`,
        code: "stream_refused",
        detail: `The stream was refused with status ${status}.`,
        next: "Sign in again.",
        ...given,
        status,
      });
      this.set("gone");
    } else this.set("waiting");
  }

  private rest(): Promise<void> {
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.failures++);
    return new Promise((done) => {
      const timer = setTimeout(done, longest * (0.7 + 0.3 * Math.random()));
      this.wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  private get position(): number {
    return this.lines.at(-1)?.seq ?? 0;
  }

  private set(connection: Connection): void {
    this.connection = connection;
    if (connection === "waiting") this.speaking.clear();
    this.changed();
  }

  /** Tell listeners once a frame, however many lines came. */
  private changed(): void {
    if (this.frame || this.aborted.signal.aborted) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.view = {
        lines: this.lines.slice(),
        connection: this.connection,
        speaking: new Map(this.speaking),
        problem: this.problem,
      };
      for (const tell of this.listeners) tell();
    });
  }
}
