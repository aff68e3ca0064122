import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "../../api/client";
import type { Json, ToolListed } from "../../api/types";
import { readable } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Badge, ErrorNote, Loading, PageTitle } from "../../kit/parts";
import { Pre } from "../runs/Pre";

const configQuery = queryOptions({
  queryKey: ["config"],
  queryFn: ({ signal }) => call<Json>("/api/config", { signal }),
});

const toolsQuery = queryOptions({
  queryKey: ["tools"],
  queryFn: ({ signal }) => call<{ tools: ToolListed[] }>("/api/tools", { signal }),
});

/** The settings in force, secrets masked, and the tools there are. To be changed in the file, not here. */
export function SettingsPage() {
  const say = useWords();
  const config = useQuery(configQuery);
  const tools = useQuery(toolsQuery);
  return (
    <>
      <PageTitle>{say("nav.settings")}</PageTitle>
      <p className="mb-3 text-faint text-sm">{say("settings.hint")}</p>
      {config.error ? <ErrorNote error={config.error} /> : null}
      {config.isPending ? <Loading /> : null}
      {config.data === undefined ? null : <Pre>{readable(config.data)}</Pre>}
      <h2 className="mt-6 mb-2 font-semibold">{say("settings.tools")}</h2>
      {tools.error ? <ErrorNote error={tools.error} /> : null}
      <ul className="grid gap-2 sm:grid-cols-2">
        {tools.data?.tools.map((tool) => (
          <li
            key={tool.name}
            className="flex items-center gap-2 rounded border border-line bg-card px-3 py-2 text-sm"
          >
            <span className="min-w-0 flex-1">
              <span className="block truncate font-medium">{tool.name}</span>
              <span className="block truncate text-faint text-xs">{tool.origin}</span>
            </span>
            <Badge tone={tool.effect === "read" ? "plain" : "warn"}>{tool.effect ?? "once"}</Badge>
          </li>
        ))}
      </ul>
    </>
  );
}
