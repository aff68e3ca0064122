import { describe, expect, it } from "vitest";
import type { TraceLine } from "../../api/types";
import { ranked } from "./Plan";
import { askedAt, EVERYTHING, filtered, newsOfTasks, openRequests } from "./reading";
import { longestText, spanOf } from "./SourceText";

let seq = 0;
function line(kind: string, given: Partial<TraceLine> = {}): TraceLine {
  seq += 1;
  return {
    seq,
    at: "2026-01-01T00:00:00+00:00",
    kind,
    state: "EXECUTING",
    step: null,
    subtask: null,
    role: null,
    tool: null,
    arguments: null,
    result: null,
    error: null,
    tokens: null,
    cost_usd: null,
    duration_ms: null,
    data: {},
    ...given,
  };
}

describe("what a run waits for", () => {
  const asked = line("ApprovalAsked", {
    data: { ticket: "a1", subject: "plan@0", shown: { n: 1 }, expires_at: null },
  });
  const question = line("QuestionAsked", {
    data: { question: "q1", text: "Which?", choices: ["one", "two"] },
  });

  it("is open until a person decides", () => {
    expect(openRequests([asked, question]).map((open) => open.kind)).toEqual(["ticket", "question"]);
  });

  it.each(["Approved", "Rejected", "TicketExpired", "TicketVoided"])("is closed by %s", (kind) => {
    expect(openRequests([asked, line(kind, { data: { ticket: "a1" } })])).toEqual([]);
  });

  it.each(["COMPLETED", "FAILED", "CANCELLED"])("is closed where the run is %s", (target) => {
    expect(openRequests([asked, question, line("StateEntered", { data: { target } })])).toEqual([]);
  });

  it("is closed by what becomes of the call it is about", () => {
    const ofCall = line("ApprovalAsked", { data: { ticket: "a2", subject: "call:c3-0", shown: {} } });
    const byTool = line("QuestionAsked", { data: { question: "q2", text: "Which?", call: "c3-1" } });
    const ended = [0, 1].map((index) => line("ToolAnswered", { data: { call: `c3-${index}` } }));
    expect(openRequests([ofCall, byTool, ...ended])).toEqual([]);
    expect(openRequests([asked, question, ...ended])).toHaveLength(2);
  });

  it("is closed by its own answer only", () => {
    expect(openRequests([question, line("Answered", { data: { question: "other" } })])).toHaveLength(1);
    expect(openRequests([question, line("Answered", { data: { question: "q1" } })])).toEqual([]);
  });
});

describe("the filter of the timeline", () => {
  const lines = [
    line("RunClaimed"),
    line("ModelAnswered", { result: "Tidal power", subtask: "s1" }),
    line("ToolAnswered", { tool: "web_fetch", error: { code: "timeout", detail: "It took too long." } }),
    line("Said", { data: { text: "be brief" } }),
  ];

  it("leaves bookkeeping out unless it is asked for or searched", () => {
    expect(filtered(lines, EVERYTHING).map((one) => one.kind)).not.toContain("RunClaimed");
    expect(filtered(lines, { ...EVERYTHING, withBookkeeping: true })).toHaveLength(4);
    expect(filtered(lines, { ...EVERYTHING, text: "runclaimed" })).toHaveLength(1);
  });

  it("looks through everything the journal has, without regard to case", () => {
    expect(filtered(lines, { ...EVERYTHING, text: "TIDAL" }).map((one) => one.kind)).toEqual([
      "ModelAnswered",
    ]);
    expect(filtered(lines, { ...EVERYTHING, text: "brief" }).map((one) => one.kind)).toEqual(["Said"]);
  });

  it("shows one group or one subtask", () => {
    expect(filtered(lines, { ...EVERYTHING, group: "problems" }).map((one) => one.kind)).toEqual([
      "ToolAnswered",
    ]);
    expect(filtered(lines, { ...EVERYTHING, subtask: "s1" })).toHaveLength(1);
  });
});

describe("the plan", () => {
  const item = (id: string, ...depends_on: string[]) => ({ id, question: id, done_when: "", depends_on });

  it("puts what waits below what it waits for", () => {
    const rows = ranked([item("s3", "s2"), item("s1"), item("s2", "s1")]);
    expect(rows.map(({ item: one, depth }) => [one.id, depth])).toEqual([
      ["s1", 0],
      ["s2", 1],
      ["s3", 2],
    ]);
  });

  it("survives a circle and a subtask that is not there", () => {
    expect(ranked([item("a", "b"), item("b", "a"), item("c", "gone")])).toHaveLength(3);
  });
});

describe("a quote in its text", () => {
  it("is found although white space differs", () => {
    expect(spanOf("before  the\nquoted   words after", "the quoted words")?.[1]).toBe("the\nquoted   words");
  });

  it("is taken literally", () => {
    expect(spanOf("costs (a+b)? yes", "(a+b)?")?.[1]).toBe("(a+b)?");
    expect(spanOf("nothing", "else")).toBeNull();
  });
});

it("takes the page out of what a tool gave", () => {
  expect(longestText('{"url": "u", "text": "line one\\nline two"}')).toBe("line one\nline two");
  expect(longestText("{ not json")).toBe("{ not json");
  expect(longestText("plain")).toBe("plain");
});

it("counts what is news of background tasks", () => {
  const begun = line("ToolAnswered", { data: { outcome: { task: { id: "k-1", name: "render" } } } });
  const plain = line("ToolAnswered", { data: { outcome: { task: null } } });
  expect(newsOfTasks([begun, plain, line("TaskReported"), line("Said")])).toBe(2);
});

it("finds where a model was asked for what it answered", () => {
  const asked = line("ModelRequested");
  expect(askedAt(asked)).toBe(asked.seq);
  expect(askedAt(line("ModelAnswered", { data: { call: "m12" } }))).toBe(12);
  expect(askedAt(line("ToolAnswered", { data: { call: "c12-0" } }))).toBeNull();
});
