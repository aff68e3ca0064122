import { expect, it } from "vitest";
import type { Json } from "../../api/types";
import { questionsOf } from "./PlanShown";

it("finds the questions of a plan and nothing in what is none", () => {
  const plan = [{ id: "s1", question: "Why?" }];
  expect(questionsOf({ transition: "PLANNING->EXECUTING", plan }).map((one) => one.question)).toEqual([
    "Why?",
  ]);
  const others: Json[] = [
    null,
    "plan",
    [],
    { plan: "all" },
    { plan: [1, null, { id: "s1" }] },
    { tool: "send" },
  ];
  for (const shown of others) expect(questionsOf(shown)).toEqual([]);
});

it("takes no call for a plan, whatever its arguments are", () => {
  const plan = [{ id: "s1", question: "Something harmless" }];
  expect(questionsOf({ tool: "send", arguments: { plan, to: "all" }, plan })).toEqual([]);
});
