import { useMay } from "../../api/session";
import { useWords, type Word } from "../../kit/i18n";
import { SELECT } from "../../kit/parts";
import type { Wanted } from "./queries";

const PERIODS: { value: string; word: Word }[] = [
  { value: "1d", word: "stats.day" },
  { value: "7d", word: "stats.week" },
  { value: "30d", word: "stats.month" },
  { value: "365d", word: "stats.year" },
];

interface ChoiceProps {
  wanted: Wanted;
  /** The tasks there are to choose from. */
  tasks: string[];
  onChange: (wanted: Wanted) => void;
}

/** Which runs are looked at: of what time, of what task, and, for an admin, whose. */
export function Choice({ wanted, tasks, onChange }: ChoiceProps) {
  const say = useWords();
  const isAdmin = useMay("admin");
  const named = [...new Set([...tasks, wanted.task])].filter(Boolean);
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      {isAdmin ? (
        <label className="flex items-center gap-1 text-faint">
          <input
            type="checkbox"
            checked={wanted.ofAll}
            onChange={(change) => onChange({ ...wanted, ofAll: change.target.checked })}
          />
          {say("stats.ofAll")}
        </label>
      ) : null}
      <select
        className={SELECT}
        aria-label={say("run.task")}
        value={wanted.task}
        onChange={(change) => onChange({ ...wanted, task: change.target.value })}
      >
        <option value="">{say("stats.allTasks")}</option>
        {named.map((task) => (
          <option key={task} value={task}>
            {task}
          </option>
        ))}
      </select>
      <select
        className={SELECT}
        aria-label={say("stats.period")}
        value={wanted.since}
        onChange={(change) => onChange({ ...wanted, since: change.target.value })}
      >
        {PERIODS.map(({ value, word }) => (
          <option key={value} value={value}>
            {say(word)}
          </option>
        ))}
      </select>
    </div>
  );
}
