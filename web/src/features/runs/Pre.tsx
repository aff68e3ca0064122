/** Text as it is, in a box that scrolls. */
export function Pre({ children }: { children: string }) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
      tabIndex={0}
      className="max-h-80 overflow-auto whitespace-pre-wrap rounded border border-line bg-card p-2 text-xs"
    >
      {children}
    </pre>
  );
}
