import { language } from "./i18n";

const locale = (): string => (language.get() === "zh" ? "zh-CN" : "en-GB");

/** A time of day with its date when it is not today's. */
export function shortTime(at: string, now: Date = new Date()): string {
  const date = new Date(at);
  const sameDay = date.toDateString() === now.toDateString();
  return date.toLocaleString(
    locale(),
    sameDay
      ? { hour: "2-digit", minute: "2-digit", second: "2-digit" }
      : { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" },
  );
}

/** A length of time in the two largest units that matter. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return `${hours} h ${minutes % 60} min`;
}

export function count(value: number): string {
  return value.toLocaleString(locale());
}

/** A part of a whole in per cent; a dash where there is nothing to share. */
export function share(part: number, whole: number): string {
  return whole === 0 ? "–" : `${Math.round((100 * part) / whole)}%`;
}

export function usd(value: number): string {
  return value === 0 ? "$0" : value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

/** JSON as a person reads it; text stays text. */
export function readable(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export function shortened(text: string, most: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= most ? flat : `${flat.slice(0, most - 1)}…`;
}
