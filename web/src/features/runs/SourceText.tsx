import { useEffect, useMemo, useRef } from "react";
import type { Json, Source, TraceLine } from "../../api/types";
import { useWords } from "../../kit/i18n";

const AROUND = 700;

/** The text around a quote, cut in three: before it, the quote, after it. White space may differ. */
export function spanOf(text: string, quote: string): [string, string, string] | null {
  const words = quote.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const match = new RegExp(pattern).exec(text);
  if (!match) return null;
  const end = match.index + match[0].length;
  return [
    text.slice(Math.max(0, match.index - AROUND), match.index),
    match[0],
    text.slice(end, end + AROUND),
  ];
}

/** The text a tool gave: results are JSON, whose longest text is the page that was read. */
export function longestText(result: Json): string {
  if (typeof result === "string") {
    const body = /^\s*[[{"]/.test(result) ? parsed(result) : null;
    return body === null || typeof body === "string" ? (body ?? result) : longestText(body);
  }
  if (result === null || typeof result !== "object") return "";
  return Object.values(result).reduce<string>((longest, value) => {
    const text = longestText(value);
    return text.length > longest.length ? text : longest;
  }, "");
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function textOf(source: Source, lines: readonly TraceLine[]): string {
  const texts = lines
    .filter((line) => line.kind === "ToolAnswered" && line.step === source.step)
    .map((line) => longestText(line.result));
  return texts.find((text) => spanOf(text, source.quote)) ?? "";
}

/** The quoted span where it stands in what was read, or the quote alone. */
export function SourceText({ source, lines }: { source: Source; lines: readonly TraceLine[] }) {
  const say = useWords();
  const mark = useRef<HTMLElement>(null);
  const span = useMemo(() => spanOf(textOf(source, lines), source.quote), [source, lines]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text around the quote may be there later than the quote
  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [span]);
  if (!source.quote) return null;
  return (
    <figure>
      <figcaption className="text-faint text-xs">
        {say(span ? "report.inContext" : "report.quote")}
      </figcaption>
      <blockquote className="max-h-80 overflow-y-auto whitespace-pre-wrap border-line border-s-2 ps-3">
        {span?.[0]}
        <mark ref={mark} className="bg-mark text-ink">
          {span?.[1] ?? source.quote}
        </mark>
        {span?.[2]}
      </blockquote>
    </figure>
  );
}
