import { useEffect, useState, useSyncExternalStore } from "react";
import { Journal, type JournalView } from "../../api/journal";

const NOTHING: JournalView = { lines: [], connection: "connecting", speaking: new Map(), problem: null };
const silent = (): (() => void) => () => undefined;

/** The journal of a run, read for as long as the component is shown. */
export function useJournal(runId: string): JournalView {
  const [journal, setJournal] = useState<Journal | null>(null);
  useEffect(() => {
    const opened = new Journal(`/api/runs/${encodeURIComponent(runId)}/events`);
    setJournal(opened);
    void opened.run();
    return () => {
      opened.close();
      setJournal(null);
    };
  }, [runId]);
  return useSyncExternalStore(journal?.subscribe ?? silent, journal?.snapshot ?? (() => NOTHING));
}
