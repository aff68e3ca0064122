import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/client";
import type { Shadows } from "../../api/types";
import { useWords } from "../../kit/i18n";
import { Empty, ErrorNote, Loading, PageTitle } from "../../kit/parts";
import { Pre } from "../runs/Pre";
import { Choice } from "../stats/Choice";
import { asked, type Wanted } from "../stats/queries";
import { VariantCard } from "./VariantCard";

const EXAMPLE = 'shadow:\n  steps: ["role:writer"]\n  variant: {llm: {model: another}}';

const shadowsQuery = (wanted: Wanted) =>
  queryOptions({
    queryKey: ["shadow", wanted],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => call<Shadows>(`/api/shadow?${asked(wanted)}`, { signal }),
  });

/** How far variants agree with the steps beside which they ran, what both cost and how long both took. */
export function ShadowPage() {
  const say = useWords();
  const [wanted, setWanted] = useState<Wanted>({ since: "7d", task: "", ofAll: false });
  const shadows = useQuery(shadowsQuery(wanted));
  return (
    <>
      <PageTitle aside={<Choice wanted={wanted} tasks={shadows.data?.tasks ?? []} onChange={setWanted} />}>
        {say("nav.shadow")}
      </PageTitle>
      {shadows.error ? <ErrorNote error={shadows.error} onRetry={() => void shadows.refetch()} /> : null}
      {shadows.isPending ? <Loading /> : null}
      {shadows.data?.variants.length === 0 ? <Nothing runs={shadows.data.runs} /> : null}
      <div className="space-y-4">
        {shadows.data?.variants.map((variant) => (
          <VariantCard key={`${variant.selector} ${variant.variant}`} variant={variant} />
        ))}
      </div>
    </>
  );
}

/** What stands where nothing was compared: how to have something compared. */
function Nothing({ runs }: { runs: number }) {
  const say = useWords();
  if (runs > 0) return <Empty title={say("shadow.nothing")} />;
  return (
    <Empty title={say("shadow.empty")}>
      <p className="mx-auto mb-2 max-w-prose">{say("shadow.hint")}</p>
      <div className="mx-auto w-fit text-start">
        <Pre>{EXAMPLE}</Pre>
      </div>
    </Empty>
  );
}
