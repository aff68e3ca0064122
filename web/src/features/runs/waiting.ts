import type { RunListed } from "../../api/types";
import { say, sayValue } from "../../kit/i18n";

/** Does a run wait for a person, and not for its turn or for work in the background? */
export const needsPerson = (run: Pick<RunListed, "waiting_for">): boolean =>
  run.waiting_for.some((what) => /^(approval|answer) /.test(what));

/** What a run waits for, as a document has it, in the words of the page. */
export function waitingWords(what: string): string {
  const [, kind, text] = /^(approval|answer) \S+: (.*)$/s.exec(what) ?? [];
  if (kind === "approval")
    return text?.startsWith("call:")
      ? say("waiting.call")
      : say("waiting.approval", { subject: subjectWords(text ?? "") });
  if (kind === "answer") return text ?? "";
  const name = /^background task (.*)$/.exec(what)?.[1];
  if (name !== undefined) return say("waiting.task", { name });
  return what === "its turn in the thread" ? say("waiting.turn") : what;
}

/** What a ticket is about in words: a change of state or a point of the work, without the position that makes it one of its kind. */
export function subjectWords(subject: string): string {
  const about = subject.replace(/@.*$/, "");
  const [source = "", target] = about.split("->");
  return target === undefined
    ? sayValue("point", about)
    : `${sayValue("state", source)} → ${sayValue("state", target)}`;
}
