import { keepPreviousData, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { call, remove } from "../../api/client";
import type { Memory, MemoryList } from "../../api/types";
import { ForWriters } from "../../kit/ForWriters";
import { shortTime } from "../../kit/format";
import { sayValue, useWords } from "../../kit/i18n";
import { Out, safeAddress } from "../../kit/Markdown";
import { Badge, Button, Empty, ErrorNote, INPUT, Loading, PageTitle } from "../../kit/parts";

const memoryQuery = (wanted: string) =>
  queryOptions({
    queryKey: ["memory", wanted],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      call<MemoryList>(`/api/memory?${new URLSearchParams(wanted ? { query: wanted } : {})}`, {
        signal,
      }),
  });

/** What outlives runs: looked through by words, and forgotten one by one. */
export function MemoryPage() {
  const say = useWords();
  const client = useQueryClient();
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const memories = useQuery(memoryQuery(wanted));
  const forget = useMutation({
    mutationFn: (id: string) => remove(`/api/memory/${encodeURIComponent(id)}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
  return (
    <>
      <PageTitle>{say("nav.memory")}</PageTitle>
      <input
        type="search"
        className={`${INPUT} mb-4 max-w-md`}
        placeholder={say("memory.search")}
        aria-label={say("memory.search")}
        value={text}
        onChange={(change) => setText(change.target.value)}
      />
      {memories.error ? <ErrorNote error={memories.error} onRetry={() => void memories.refetch()} /> : null}
      {forget.error ? <ErrorNote error={forget.error} /> : null}
      {memories.isPending ? <Loading /> : null}
      {memories.data?.memories.length === 0 ? (
        <Empty title={say(wanted ? "memory.noMatch" : "memory.empty")}>{say("memory.hint")}</Empty>
      ) : null}
      <ul className="space-y-2">
        {memories.data?.memories.map((memory) => (
          <li key={memory.id}>
            <Entry memory={memory} onForget={() => forget.mutate(memory.id)} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Entry({ memory, onForget }: { memory: Memory; onForget: () => void }) {
  const say = useWords();
  const { source, title } = memory;
  return (
    <article className="rounded-lg border border-line bg-card p-3">
      {title ? <h2 className="font-medium">{title}</h2> : null}
      <p className="whitespace-pre-wrap">{memory.text}</p>
      <p className="mt-1 flex flex-wrap items-center gap-2 text-faint text-xs">
        <Badge>{sayValue("memory", memory.kind)}</Badge>
        {memory.holds ? null : <Badge tone="warn">{say("memory.superseded")}</Badge>}
        {safeAddress(source) ? <Out address={source}>{source}</Out> : source}
        <time dateTime={memory.known_at}>{shortTime(memory.known_at)}</time>
        {memory.run_id ? (
          <Link to="/runs/$runId" params={{ runId: memory.run_id }} className="text-accent underline">
            {say("memory.run")}
          </Link>
        ) : null}
        <ForWriters>
          <Button
            look="quiet"
            className="ms-auto"
            onClick={() => window.confirm(say("memory.forgetSure")) && onForget()}
          >
            {say("action.forget")}
          </Button>
        </ForWriters>
      </p>
    </article>
  );
}
