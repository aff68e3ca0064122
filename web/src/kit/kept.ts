/** What this browser keeps under a name, or null. */
export function kept(name: string): string | null {
  try {
    return window.localStorage.getItem(`outlast.${name}`);
  } catch {
    return null;
  }
}

/** Keep something in this browser. Storage may be forbidden; then it lasts as long as the page. */
export function keep(name: string, value: string): void {
  try {
    window.localStorage.setItem(`outlast.${name}`, value);
  } catch {
    // Nothing to do: it was a convenience.
  }
}
