import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Day } from "../../api/types";
import { useWords } from "../../kit/i18n";

const HEIGHT_PX = 220;

/** Runs by day: how many there were, and how many of them failed. */
export default function Plot({ days }: { days: Day[] }) {
  const say = useWords();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = box.current;
    if (!place) return;
    const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name);
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line") } };
    const plot = new UPlot(
      {
        width: place.clientWidth,
        height: HEIGHT_PX,
        axes: [axis, axis],
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most)] } },
        series: [
          {},
          { label: say("stats.runs"), stroke: colour("--accent"), width: 2, points: { show: true } },
          { label: say("stats.failed"), stroke: colour("--bad"), width: 2, points: { show: true } },
        ],
      },
      [
        days.map((day) => Date.parse(day.day) / 1000),
        days.map((day) => day.runs),
        days.map((day) => day.failed),
      ],
      place,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT_PX }));
    resized.observe(place);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [days, say]);
  return (
    <figure>
      <figcaption className="mb-1 font-semibold text-sm">{say("stats.byDay")}</figcaption>
      <div ref={box} role="img" aria-label={say("stats.byDay")} />
    </figure>
  );
}
