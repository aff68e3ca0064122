import { Link } from "@tanstack/react-router";
import type { ShadowSide, ShadowVariant } from "../../api/types";
import { count, duration, readable, share, usd } from "../../kit/format";
import { sayValue, useWords, type Word } from "../../kit/i18n";
import { Card } from "../../kit/parts";
import { Table } from "../../kit/Table";
import { Pre } from "../runs/Pre";

const NOTHING = "–";

/** What was chosen by one selector, compared with one variant. */
export function VariantCard({ variant }: { variant: ShadowVariant }) {
  const say = useWords();
  const { comparisons, overlap } = variant;
  return (
    <Card aria-label={variant.selector} className="space-y-4">
      <h2 className="font-semibold text-lg">{variant.selector}</h2>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-3 lg:grid-cols-6">
        <Figure name="shadow.comparisons" value={count(comparisons)} />
        <Figure name="shadow.agreement" value={share(variant.agreed, comparisons)} />
        <Figure name="shadow.overlap" value={overlap === null ? NOTHING : share(overlap, 1)} />
        <Figure name="shadow.failed" value={count(variant.failed)} />
        <Figure name="shadow.suppressed" value={count(variant.suppressed)} />
        <Figure name="shadow.uncompared" value={count(variant.uncompared)} />
      </dl>
      {comparisons > 0 ? <Sides variant={variant} /> : null}
      <Table
        caption={say("shadow.reasons")}
        head={[say("stats.reason"), say("stats.count")]}
        rows={variant.reasons.map(({ code, count: often }) => ({
          key: code,
          cells: [sayValue("uncompared", code), count(often)],
        }))}
      />
      <Examples variant={variant} />
      <details>
        <summary className="cursor-pointer font-semibold text-sm">
          {say("shadow.variant", { variant: variant.variant })}
        </summary>
        <Pre>{readable(variant.settings)}</Pre>
      </details>
    </Card>
  );
}

function Figure({ name, value }: { name: Word; value: string }) {
  const say = useWords();
  return (
    <div>
      <dt className="text-faint text-sm">{say(name)}</dt>
      <dd className="font-semibold text-lg tabular-nums">{value}</dd>
    </div>
  );
}

function Sides({ variant }: { variant: ShadowVariant }) {
  const say = useWords();
  const row = (key: string, side: ShadowSide) => ({
    key,
    cells: [
      <span key="side" className="whitespace-nowrap">
        {key}
      </span>,
      count(side.tokens),
      side.cost_usd === null ? NOTHING : usd(side.cost_usd),
      duration(side.p50_ms ?? 0),
      duration(side.p95_ms ?? 0),
    ],
  });
  return (
    <Table
      caption={say("shadow.sides")}
      head={[
        say("shadow.side"),
        say("run.tokens"),
        say("run.money"),
        say("shadow.median"),
        say("shadow.slow"),
      ]}
      rows={[row(say("shadow.own"), variant.own), row(say("shadow.other"), variant.shadow)]}
    />
  );
}

function Examples({ variant }: { variant: ShadowVariant }) {
  const say = useWords();
  if (variant.examples.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer font-semibold text-sm">{say("shadow.examples")}</summary>
      <ul className="mt-2 space-y-3 text-sm">
        {variant.examples.map((example) => (
          <li key={`${example.run_id} ${example.seq}`} className="rounded-lg border border-line p-3">
            <p className="mb-2">
              <span className="break-all font-medium">{example.step}</span>{" "}
              <span className="text-faint text-xs">
                {say("shadow.inCommon", { share: share(example.overlap ?? 0, 1) })} ·{" "}
                <Link
                  to="/runs/$runId"
                  params={{ runId: example.run_id }}
                  search={{ tab: "timeline", seq: example.seq }}
                  className="text-accent underline"
                >
                  {say("shadow.toStep")}
                </Link>
              </span>
            </p>
            <div className="grid gap-2 sm:grid-cols-2">
              <Result name="shadow.own" text={example.own} />
              <Result name="shadow.other" text={example.shadow} />
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Result({ name, text }: { name: Word; text: string }) {
  const say = useWords();
  return (
    <figure className="min-w-0">
      <figcaption className="mb-1 text-faint text-xs">{say(name)}</figcaption>
      <Pre>{text}</Pre>
    </figure>
  );
}
