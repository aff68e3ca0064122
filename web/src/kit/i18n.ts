import { useSyncExternalStore } from "react";
import { en } from "./words/en";
import { zh } from "./words/zh";

export type Language = "en" | "zh";
export type Word = keyof typeof en;

const words: Record<Language, Record<Word, string>> = { en, zh };
const listeners = new Set<() => void>();
let spoken: Language = "en";

/** The language of the page, for code outside components. */
export const language = {
  get: (): Language => spoken,
  set: (chosen: Language): void => {
    spoken = chosen;
    for (const tell of listeners) tell();
  },
};

/** The words of a key, with `{name}` filled in. */
export function say(key: Word, values: Record<string, string | number> = {}): string {
  return words[spoken][key].replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}

/** `say`, in a component that is drawn again when the language changes. */
export function useWords(): typeof say {
  useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => spoken,
  );
  return say;
}

/** So many of something: the words for one, or those for several. */
export function sayCount(one: Word, several: Word, count: number): string {
  return say(count === 1 ? one : several, {
    count: count.toLocaleString(spoken === "zh" ? "zh-CN" : "en-GB"),
  });
}

/** The words for a value of the program (a state, a status, a kind of event), or `otherwise` when there are none. */
export function sayValue(
  prefix:
    | "state"
    | "status"
    | "notification"
    | "kind"
    | "memory"
    | "failure"
    | "verdict"
    | "uncompared"
    | "point"
    | "progress",
  value: string,
  otherwise: string = value,
): string {
  const known: Partial<Record<string, string>> = words[spoken];
  return known[`${prefix}.${value}`] ?? otherwise;
}
