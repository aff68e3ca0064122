import { expect, it } from "vitest";
import { needsPerson, waitingWords } from "./waiting";

it.each([
  ["approval a1: PLANNING->EXECUTING@3", "May it go on: planning → working?", true],
  ["approval a2: call:c7-0", "Waits for your word on the call of a tool", true],
  ["approval a3: report@9", "May it go on: the report?", true],
  ["answer q1: Which\nside: left?", "Which\nside: left?", true],
  ["background task render", "Waits for the background task render", false],
  ["its turn in the thread", "Waits for its turn in the conversation", false],
  ["something new", "something new", false],
])("says %j in words", (what, words, isForPerson) => {
  expect(waitingWords(what)).toBe(words);
  expect(needsPerson({ waiting_for: [what] })).toBe(isForPerson);
});
