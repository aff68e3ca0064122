import type { ReactNode } from "react";

interface TableProps {
  caption: string;
  head: string[];
  /** Cells by row; the first cell tells a row from the others by its key. */
  rows: { key: string; cells: ReactNode[] }[];
}

/** Figures in columns: names to the left, numbers to the right; it scrolls in itself where it is too wide. */
export function Table({ caption, head, rows }: TableProps) {
  if (rows.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="overflow-x-auto" aria-label={caption} tabIndex={0}>
      <table className="w-full max-w-4xl text-sm">
        <caption className="mb-1 text-start font-semibold">{caption}</caption>
        <thead>
          <tr className="border-line border-b text-faint">
            {head.map((name, index) => (
              <th
                key={name}
                scope="col"
                className={`whitespace-nowrap py-1 font-normal ${index ? "ps-4 text-end" : "text-start"}`}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key} className="border-line border-b align-top">
              {cells.map((cell, index) => (
                <td
                  key={head[index]}
                  className={`py-1 ${index ? "whitespace-nowrap ps-4 text-end tabular-nums" : "break-words"}`}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
