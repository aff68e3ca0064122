import { queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import type { ContextPart, ModelContext as Shown } from "../../api/types";
import { count, readable } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Badge, ErrorNote, Loading } from "../../kit/parts";
import { Pre } from "./Pre";

const route = getRouteApi("/runs/$runId");

const contextQuery = (runId: string, seq: number) =>
  queryOptions({
    queryKey: ["context", runId, seq],
    queryFn: ({ signal }) =>
      call<Shown>(`/api/runs/${encodeURIComponent(runId)}/contexts/${seq}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What the model saw for one call, made again from the journal when a person wants to know. */
export function ModelContext({ seq }: { seq: number }) {
  const say = useWords();
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer text-accent">{say("context.title")}</summary>
      {isOpen ? <Parts seq={seq} /> : null}
    </details>
  );
}

function Parts({ seq }: { seq: number }) {
  const say = useWords();
  const { runId } = route.useParams();
  const context = useQuery(contextQuery(runId, seq));
  if (context.error) return <ErrorNote error={context.error} onRetry={() => void context.refetch()} />;
  if (!context.data) return <Loading />;
  const { parts, used_tokens: used, max_tokens: most, tools } = context.data;
  const sum = Object.values(used).reduce((all, one) => all + one, 0);
  return (
    <div className="mt-1 space-y-2">
      <p className="text-faint text-xs">
        {say("context.used", { used: count(sum), most: count(most) })}
        {Object.entries(used)
          .filter(([, tokens]) => tokens > 0)
          .map(([name, tokens]) => ` · ${name} ${count(tokens)}`)}
      </p>
      {context.data.is_as_recorded ? null : <Badge tone="warn">{say("context.differs")}</Badge>}
      {tools.length ? (
        <p className="text-faint text-xs">{say("context.tools", { tools: tools.join(", ") })}</p>
      ) : null}
      <ol aria-label={say("context.title")} className="space-y-1">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one context never change
          <li key={index}>
            <Part part={part} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Part({ part }: { part: ContextPart }) {
  const say = useWords();
  const calls = part.tool_calls?.map((one) => `${one.name} ${readable(one.arguments)}`) ?? [];
  const text = [part.reasoning, part.text, ...calls].filter(Boolean).join("\n\n");
  return (
    <details className="rounded border border-line bg-card px-2 py-1">
      <summary className="cursor-pointer">
        <Badge>{part.tool_name ?? part.speaker}</Badge>{" "}
        <span className="text-faint text-xs">
          {part.why} · {say("context.tokens", { count: count(part.tokens) })}
        </span>
      </summary>
      <Pre>{text}</Pre>
    </details>
  );
}
