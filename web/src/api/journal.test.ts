import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Journal, type JournalView } from "./journal";

let server: Server | null = null;
let journal: Journal | null = null;

afterEach(() => {
  journal?.close();
  server?.closeAllConnections();
  server?.close();
});

const frame = (seq: number, state = "EXECUTING") =>
  `id: ${seq}\nevent: Said\ndata: ${JSON.stringify({ seq, kind: "Said", state, data: {} })}\n\n`;

const END = "event: end\ndata: {}\n\n";

type Answer = (request: IncomingMessage, response: ServerResponse, visit: number) => void;

async function reading(answer: Answer): Promise<Journal> {
  let visits = 0;
  const listening = createServer((request, response) => {
    visits += 1;
    answer(request, response, visits);
  });
  server = listening;
  await new Promise<void>((done) => listening.listen(0, "127.0.0.1", done));
  journal = new Journal(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/events`);
  void journal.run();
  return journal;
}

function until(watched: Journal, is: (view: JournalView) => boolean): Promise<JournalView> {
  return new Promise((done) => {
    const look = () => {
      if (is(watched.snapshot())) {
        stop();
        done(watched.snapshot());
      }
    };
    const stop = watched.subscribe(look);
    look();
  });
}

it("goes on from the last position after a broken stream, with nothing missing and nothing twice", async () => {
  const asked: (string | undefined)[] = [];
  const watched = await reading((request, response, visit) => {
    asked.push(request.headers["last-event-id"] as string);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    if (visit === 1) {
      response.write(frame(1) + frame(2));
      setTimeout(() => response.destroy(), 20);
    } else response.end(`${frame(2)}${frame(3, "COMPLETED")}${END}`);
  });
  const view = await until(watched, (seen) => seen.connection === "ended");
  expect(view.lines.map((line) => line.seq)).toEqual([1, 2, 3]);
  expect(asked).toEqual(["0", "2"]);
});

it("begins again when the gateway says that it cannot go on from there", async () => {
  const watched = await reading((_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(`${frame(7)}event: resync\ndata: {}\n\n${frame(1)}${frame(2, "FAILED")}${END}`);
  });
  const view = await until(watched, (seen) => seen.connection === "ended");
  expect(view.lines.map((line) => line.seq)).toEqual([1, 2]);
});

it("gives up with the reason when it may not read the run", async () => {
  const watched = await reading((_, response) => {
    response.writeHead(404, { "Content-Type": "application/problem+json" });
    response.end(
      JSON.stringify({ code: "unknown_run", detail: "There is no such run.", next: "List them." }),
    );
  });
  const view = await until(watched, (seen) => seen.connection === "gone");
  expect(view.problem?.problem.code).toBe("unknown_run");
});

it("joins pieces of an answer by branch, and drops them once the answer is in the journal", async () => {
  const watched = await reading((_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`event: delta\ndata: {"branch":"main","role":"main","text":"Hel"}\n\n`);
    response.write(`event: delta\ndata: {"branch":"main","role":"main","text":"lo"}\n\n`);
    setTimeout(
      () =>
        response.end(
          `id: 1\ndata: ${JSON.stringify({ seq: 1, kind: "ModelAnswered", state: "COMPLETED" })}\n\n${END}`,
        ),
      100,
    );
  });
  const speaking = await until(watched, (seen) => seen.speaking.size > 0);
  expect(speaking.speaking.get("main")?.text).toBe("Hello");
  const view = await until(watched, (seen) => seen.connection === "ended");
  expect(view.speaking.size).toBe(0);
});

it("reads no more of a run it has the whole of", async () => {
  const watched = await reading((_, response) => {
    response.writeHead(204);
    response.end();
  });
  expect((await until(watched, (seen) => seen.connection === "ended")).lines).toEqual([]);
});

it("reads on when an ended run is taken up again", async () => {
  const watched = await reading((_, response, visit) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(visit === 1 ? `${frame(1, "FAILED")}${END}` : `${frame(2)}${frame(3, "COMPLETED")}${END}`);
  });
  await until(watched, (seen) => seen.connection === "ended");
  void watched.run();
  const view = await until(watched, (seen) => seen.lines.length === 3 && seen.connection === "ended");
  expect(view.lines.map((line) => line.seq)).toEqual([1, 2, 3]);
});
