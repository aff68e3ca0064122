import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { call, remove } from "../../api/client";
import { shortTime } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Out, safeAddress } from "../../kit/Markdown";
import { Badge, Button, Empty, ErrorNote, INPUT, Loading, PageTitle } from "../../kit/parts";

interface Memory {
  memory_id: string;
  kind: string;
  text: string;
  source: string | null;
  tags: string[];
  created_at: string;
  superseded_by: string | null;
}

const memoryQuery = (wanted: string) =>
  queryOptions({
    queryKey: ["memory", wanted],
    queryFn: ({ signal }) =>
      call<{ memories: Memory[] }>(`/api/memory?${new URLSearchParams(wanted ? { query: wanted } : {})}`, {
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
          <li key={memory.memory_id} className="rounded-lg border border-line bg-card p-3">
            <p className="whitespace-pre-wrap">{memory.text}</p>
            <p className="mt-1 flex flex-wrap items-center gap-2 text-faint text-xs">
              <Badge>{memory.kind}</Badge>
              {memory.source ? (
                safeAddress(memory.source) ? (
                  <Out address={memory.source}>{memory.source}</Out>
                ) : (
                  memory.source
                )
              ) : null}
              {shortTime(memory.created_at)}
              {memory.superseded_by ? <Badge tone="warn">{say("memory.superseded")}</Badge> : null}
              <Button
                look="quiet"
                className="ms-auto"
                onClick={() => window.confirm(say("memory.forgetSure")) && forget.mutate(memory.memory_id)}
              >
                {say("action.forget")}
              </Button>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
