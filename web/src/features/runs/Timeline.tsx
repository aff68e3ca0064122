import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { JournalView } from "../../api/journal";
import type { TraceLine } from "../../api/types";
import { count } from "../../kit/format";
import { useWords, type Word } from "../../kit/i18n";
import { Empty, INPUT, SELECT } from "../../kit/parts";
import { EVERYTHING, type Filter, filtered } from "./reading";
import { TimelineRow } from "./TimelineRow";

interface TimelineProps {
  journal: JournalView;
  /** The event to show first, by position. */
  seq?: number;
  onFork: (seq: number) => void;
}

const GROUPS: { value: Filter["group"]; word: Word }[] = [
  { value: "all", word: "filter.all" },
  { value: "models", word: "filter.models" },
  { value: "tools", word: "filter.tools" },
  { value: "people", word: "filter.people" },
  { value: "plan", word: "filter.plan" },
  { value: "shadow", word: "nav.shadow" },
  { value: "problems", word: "filter.problems" },
];

/** Every event of a run, as it happens: only the rows in sight are drawn, and the end is followed while it is in sight. */
export function Timeline({ journal, seq, onFork }: TimelineProps) {
  const say = useWords();
  const [filter, setFilter] = useState<Filter>(EVERYTHING);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set(seq ? [seq] : []));
  const lines = useMemo(() => filtered(journal.lines, filter), [journal.lines, filter]);
  return (
    <div className="flex min-h-0 flex-col gap-2">
      <Filters filter={filter} lines={journal.lines} onChange={setFilter} />
      <p className="text-faint text-xs" aria-live="polite">
        {say("timeline.count", { shown: count(lines.length), all: count(journal.lines.length) })}
      </p>
      {lines.length === 0 ? (
        <Empty title={say(journal.lines.length ? "timeline.noMatch" : "timeline.empty")} />
      ) : (
        <Rows
          lines={lines}
          seq={seq}
          opened={opened}
          onToggle={(position) => setOpened(toggled(opened, position))}
          onFork={onFork}
        />
      )}
    </div>
  );
}

function toggled(set: ReadonlySet<number>, item: number): ReadonlySet<number> {
  const changed = new Set(set);
  if (!changed.delete(item)) changed.add(item);
  return changed;
}

interface FiltersProps {
  filter: Filter;
  lines: readonly TraceLine[];
  onChange: (filter: Filter) => void;
}

function Filters({ filter, lines, onChange }: FiltersProps) {
  const say = useWords();
  const subtasks = useMemo(() => [...new Set(lines.map((line) => line.subtask).filter(Boolean))], [lines]);
  return (
    <search className="flex flex-wrap items-center gap-2 text-sm">
      <input
        type="search"
        className={`${INPUT} max-w-60`}
        placeholder={say("filter.search")}
        aria-label={say("filter.search")}
        value={filter.text}
        onChange={(change) => onChange({ ...filter, text: change.target.value })}
      />
      <select
        className={SELECT}
        aria-label={say("filter.group")}
        value={filter.group}
        onChange={(change) => onChange({ ...filter, group: change.target.value as Filter["group"] })}
      >
        {GROUPS.map(({ value, word }) => (
          <option key={value} value={value}>
            {say(word)}
          </option>
        ))}
      </select>
      {subtasks.length > 1 ? (
        <select
          className={SELECT}
          aria-label={say("filter.subtask")}
          value={filter.subtask}
          onChange={(change) => onChange({ ...filter, subtask: change.target.value })}
        >
          <option value="">{say("filter.allSubtasks")}</option>
          {subtasks.map((subtask) => (
            <option key={subtask} value={subtask ?? ""}>
              {subtask}
            </option>
          ))}
        </select>
      ) : null}
      <label className="flex items-center gap-1 text-faint">
        <input
          type="checkbox"
          checked={filter.withBookkeeping}
          onChange={(change) => onChange({ ...filter, withBookkeeping: change.target.checked })}
        />
        {say("filter.bookkeeping")}
      </label>
    </search>
  );
}

interface RowsProps {
  lines: TraceLine[];
  seq?: number;
  opened: ReadonlySet<number>;
  onToggle: (position: number) => void;
  onFork: (position: number) => void;
}

const ROW_PX = 37;

function Rows({ lines, seq, opened, onToggle, onFork }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(seq === undefined);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => lines[index]?.seq ?? index,
    overscan: 12,
  });
  const wanted = seq === undefined ? -1 : lines.findIndex((line) => line.seq >= seq);
  const hasJumped = useRef(false);
  useEffect(() => {
    if (wanted >= 0 && !hasJumped.current) {
      hasJumped.current = true;
      virtual.scrollToIndex(wanted, { align: "center" });
    } else if (isAtEnd.current && lines.length) virtual.scrollToIndex(lines.length - 1);
  }, [lines.length, wanted, virtual]);
  return (
    <div
      ref={scroller}
      className="h-[65vh] overflow-y-auto rounded-lg border border-line bg-card"
      onScroll={({ currentTarget: box }) => {
        isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
      }}
    >
      <ol className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          return line ? (
            <li
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-setsize={lines.length}
              aria-posinset={item.index + 1}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <TimelineRow
                line={line}
                isOpen={opened.has(line.seq)}
                onToggle={() => onToggle(line.seq)}
                onFork={() => onFork(line.seq)}
              />
            </li>
          ) : null;
        })}
      </ol>
    </div>
  );
}
