import { useEffect, useMemo, useRef } from "react";
import type { Source, TraceLine } from "../../api/types";
import { useWords } from "../../shared/i18n";

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

function textOf(source: Source, lines: readonly TraceLine[]): string {
  const seen = lines.filter(
    (line) => line.kind === "ToolAnswered" && line.step === source.step && typeof line.result === "string",
  );
  const holding = seen.find((line) => spanOf(String(line.result), source.quote));
  return String((holding ?? seen[0])?.result ?? "");
}

/** The quoted span where it stands in what was read, or the quote alone. */
export function SourceText({ source, lines }: { source: Source; lines: readonly TraceLine[] }) {
  const say = useWords();
  const mark = useRef<HTMLElement>(null);
  const span = useMemo(() => spanOf(textOf(source, lines), source.quote), [source, lines]);
  useEffect(() => mark.current?.scrollIntoView?.({ block: "center" }), []);
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
