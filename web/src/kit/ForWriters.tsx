import type { ReactNode } from "react";
import { useMay } from "../api/session";
import { useWords } from "./i18n";

interface ForWritersProps {
  children: ReactNode;
  /** What those see who may only look; nothing, unless something is missing without it. */
  instead?: ReactNode;
}

/** What changes something: shown to those whom the gateway would let. */
export function ForWriters({ children, instead = null }: ForWritersProps) {
  return useMay("write") ? children : instead;
}

/** Says why nothing can be changed here. */
export function ReadOnly() {
  const say = useWords();
  return (
    <p role="note" className="rounded-md bg-warn-page px-3 py-2 text-sm text-warn">
      {say("session.readOnly")}
    </p>
  );
}
