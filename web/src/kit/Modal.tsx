import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { useWords } from "./i18n";

interface ModalProps {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
  /** A sheet stands at the side, a dialog in the middle. */
  side?: boolean;
}

/** A dialog or a sheet at the side. The browser keeps the focus in it, and closes it at Escape. */
export function Modal({ title, open, onClose, children, side = false }: ModalProps) {
  const say = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before the effects of what is in it: it can be scrolled to only once it is shown.
  useLayoutEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const place = side
    ? "ms-auto me-0 my-0 h-dvh w-full max-w-md border-s"
    : "m-auto w-[min(92vw,40rem)] rounded-lg border";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog closes it; Escape does for the keyboard
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      className={`max-h-dvh overflow-y-auto border-line bg-card p-0 text-ink backdrop:bg-black/40 ${place}`}
    >
      {open ? (
        <div className="p-4">
          <div className="mb-3 flex items-center justify-between gap-2">
            <h2 id={heading} className="font-semibold text-lg">
              {title}
            </h2>
            <button
              type="button"
              className="min-h-8 min-w-8 cursor-pointer rounded text-faint hover:text-ink"
              aria-label={say("action.close")}
              onClick={onClose}
            >
              ✕
            </button>
          </div>
          {children}
        </div>
      ) : null}
    </dialog>
  );
}
