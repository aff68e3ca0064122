import { useEffect, useState, useSyncExternalStore } from "react";
import { Journal, type JournalView } from "../../api/journal";

const NOTHING: JournalView = { lines: [], connection: "connecting", speaking: new Map(), problem: null };
const silent = (): (() => void) => () => undefined;
const nothing = (): JournalView => NOTHING;

/** The journal of a run, read for as long as the component is shown; a run that `isActive` again is read on. */
export function useJournal(runId: string, isActive = false): JournalView {
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
  const view = useSyncExternalStore(journal?.subscribe ?? silent, journal?.snapshot ?? nothing);
  useEffect(() => {
    if (isActive && view.connection === "ended") void journal?.run();
  }, [journal, isActive, view.connection]);
  return view;
}
