"""The sections of the settings tree that belong to one adapter or door each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from outlast.domain.dataclass import dataclass
from outlast.wiring.settings.spec import required, setting
from outlast.wiring.settings.text import Secret, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """Where code that nobody has read is run."""

    backend: Literal["auto", "subprocess", "bubblewrap", "docker"] = setting(
        "auto", "What confines the code; `auto` takes the strongest there is, `subprocess` is no boundary."
    )
    enabled: bool = setting(True, "Whether code may be run at all; if not, `run_code` is not offered.")
    network: Literal["none", "full"] = setting("none", "What network the code may reach.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What `web_search` asks."""

    provider: Literal["corpus", "searxng", "tavily", "brave", "duckduckgo"] = setting(
        "corpus", "A folder of documents, or a search service."
    )
    path: Text = setting(
        Text("./docs"), "Folder of the documents, relative to the config's directory.", when=("corpus",)
    )
    url: Text | None = setting(None, "Address of the SearXNG server.", when=("searxng",), is_needed=True)
    api_key: Secret | None = setting(
        None, "Key of the search service.", when=("tavily", "brave"), is_needed=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What outlives a run."""

    enabled: bool = setting(True, "Whether runs leave something in memory and ask it.")
    scope: Literal["user", "thread"] = setting(
        "user", "For whom something is remembered: all threads of its user, or only the thread it comes from."
    )
    embedder: Literal["offline", "openai_compatible"] = setting(
        "offline", "What turns texts into vectors for recall."
    )
    model: Text | None = setting(
        None, "Name of the embedding model at the endpoint, for `openai_compatible`."
    )
    base_url: Text | None = setting(
        None, "Address of that endpoint, up to and without `/embeddings`; empty: that of `llm`."
    )
    api_key: Secret | None = setting(
        None, "Key of that endpoint; empty: that of `llm`, where the address is, too."
    )
    ttl_days: float | None = setting(
        None, "After how many days entries expire; empty: never.", unit="days", at_least=0
    )
    archive_after_days: float | None = setting(
        30.0,
        "How long entries that something newer took the place of are still recalled, marked as outdated; empty: for ever.",
        unit="days",
        at_least=0,
    )


@dataclass(frozen=True, slots=True)
class Overlay:
    """Settings that differ from the rest of the document: only the keys that were written, sections as mappings of theirs."""

    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """A variant that runs beside the real thing, its effects suppressed."""

    steps: tuple[str, ...] = setting(
        (),
        "What is shadowed: `tool:NAME`, `role:NAME`, `model`, `model:NAME`, `prompt:ROLE` (of the variant its prompt alone) or "
        "`config` (every call of a model or tool).",
    )
    variant: Overlay = setting(
        Overlay(), "The settings that differ in the variant, as in the document itself."
    )
    share: float = setting(1.0, "Which part of these steps is shadowed, from 0 to 1.", at_least=0, at_most=1)
    timeout_seconds: float = setting(
        120.0, "How long the variant of one step may take.", unit="seconds", at_least=0.1
    )
    max_concurrent: int = setting(2, "How many shadowed steps of a run are at work at once.", at_least=1)
    max_cost: float | None = setting(
        None,
        "What the variant may cost in one run, beside the limits of the run; then its steps are no longer shadowed.",
        unit="US dollars",
        at_least=0,
    )
    max_tokens: int | None = setting(
        None, "How many tokens the variant may use in one run, as `max_cost`.", unit="tokens", at_least=0
    )


Notify = Literal["agent", "note", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundTasks:
    """How work on other servers is followed."""

    poll_interval_seconds: float = setting(
        5.0, "Shortest time between two questions about a task.", unit="seconds", at_least=0.05
    )
    max_backoff_seconds: float = setting(300.0, "Longest wait after errors.", unit="seconds", at_least=1)
    lease_seconds: float = setting(
        30.0, "How long a claim on a task holds without a sign of life.", unit="seconds", at_least=1
    )
    max_attempts: int = setting(5, "How often a delivery is tried before it is a dead letter.", at_least=1)
    degraded_after_errors: int = setting(
        3, "After how many errors in a row a task shows as degraded.", at_least=1
    )
    notify: Notify = setting(
        "agent",
        "Who tells the thread: the agent in a run of its own, a note without a model, or nobody (`off`).",
    )
    retention_days: float = setting(30.0, "How long ended tasks are kept.", unit="days", at_least=0)
    max_concurrent: int = setting(
        200, "How many tasks one worker asks for, cancels or tells of at the same time, of each.", at_least=1
    )
    max_concurrent_per_server: int = setting(
        50, "How many tasks of one server are asked for at the same time by all workers.", at_least=1
    )
    max_concurrent_per_user: int = setting(
        100, "How many tasks of one user are asked for at the same time by all workers.", at_least=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBackgroundTasks:
    """How the tasks of one server are followed; what is empty is taken from `background_tasks`."""

    poll_interval_seconds: float | None = setting(
        None, "As in `background_tasks`.", unit="seconds", at_least=0.05
    )
    max_backoff_seconds: float | None = setting(None, "As in `background_tasks`.", unit="seconds", at_least=1)
    lease_seconds: float | None = setting(None, "As in `background_tasks`.", unit="seconds", at_least=1)
    max_attempts: int | None = setting(None, "As in `background_tasks`.", at_least=1)
    degraded_after_errors: int | None = setting(None, "As in `background_tasks`.", at_least=1)
    notify: Notify | None = setting(None, "As in `background_tasks`.")
    retention_days: float | None = setting(None, "As in `background_tasks`.", unit="days", at_least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alerts:
    """Who is told of dead letters and degraded tasks."""

    webhook: Secret | None = setting(None, "Address that is sent each alert as JSON.")
    command: tuple[Text, ...] = setting(
        (), "Program and arguments that are given each alert as JSON on standard input."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How failed calls are tried again."""

    max_attempts: int = setting(
        3, "How often a call is made in all, the first try counted.", at_least=1, at_most=100
    )
    backoff: Literal["exponential", "fixed", "none"] = setting(
        "exponential", "How the waits between tries grow."
    )
    base_seconds: float = setting(1.0, "The first wait.", unit="seconds", at_least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """How one tool differs from its own declaration; what is empty stays as the tool declares it."""

    timeout_seconds: float | None = setting(None, "How long one call may take.", unit="seconds", at_least=0.1)
    retry: Retry | None = setting(None, "How failed calls are tried again.")
    cache_seconds: float | None = setting(
        None, "How long a result answers the same call again.", unit="seconds", at_least=0
    )
    max_concurrent: int | None = setting(None, "How many calls may be open at once.", at_least=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFetchSettings(ToolSettings):
    """How `web_fetch` differs from its own declaration."""

    allow_hosts: tuple[Text, ...] = setting(
        (), "Hosts (`name` or `name:port`) that may be read although their addresses are not public."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Where tools are found, and how single tools differ from their own declarations."""

    paths: tuple[Text, ...] = setting((), "Folders and files with tools, relative to the config's directory.")
    web_fetch: WebFetchSettings = setting(WebFetchSettings(), "How `web_fetch` differs.")
    by_name: Mapping[str, ToolSettings] = setting(
        {}, "How any other tool differs, under its name.", is_rest=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTools:
    """Ordinary tools of an MCP server that together are a background task."""

    submit: str = required("Tool that starts the work and answers with its id.")
    status: str = required("Tool that tells how far the work is.")
    cancel: str | None = setting(None, "Tool that stops the work.")
    answer: str | None = setting(None, "Tool that takes a person's answer to a question of the work.")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOauth:
    """An identity of our own at an authorization server (OAuth 2.1 client credentials)."""

    issuer: Text = required("Address of the authorization server, as it calls itself.")
    client_id: Text = required("Name of the client there.")
    client_secret: Secret = required("Its secret.")
    scope: Text | None = setting(None, "Scopes to ask for, separated by spaces.")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server: an address, or a program that is started."""

    url: Text | None = setting(None, "Address of the server. Either this or `command`.")
    command: Text | None = setting(None, "Program to start. Either this or `url`.")
    args: tuple[Text, ...] = setting((), "Arguments of the program.")
    env: Mapping[str, Secret] = setting(
        {}, "Variables the program gets beside the few that are always passed."
    )
    headers: Mapping[str, Secret] = setting({}, "Headers sent with every request.")
    oauth: McpOauth | None = setting(None, "Where tokens for the server come from.")
    effects: Mapping[str, Literal["read", "idempotent", "once"]] = setting(
        {}, "What tools do to the world, by their names there; wins over what the server says of them."
    )
    timeout_seconds: float = setting(30.0, "How long one call may take.", unit="seconds", at_least=0.1)
    ready_timeout_seconds: float | None = setting(
        None,
        "How long the server may take to start, connect and list its tools; empty: as `timeout_seconds`, but at least 20.",
        unit="seconds",
        at_least=0.1,
    )
    tasks: tuple[TaskTools, ...] = setting(
        (), "Groups of ordinary tools that are treated as background tasks."
    )
    experimental_tasks: bool = setting(
        False, "Whether tools that support the older, experimental tasks (2025-11-25) are called as such."
    )
    background_tasks: ServerBackgroundTasks = setting(
        ServerBackgroundTasks(), "How this server's tasks are followed, where it differs."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Logging:
    """What is logged."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None = setting(
        None, "Least severity that is logged; empty: INFO for `run`, WARNING for `serve` and `worker`."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Where `outlast serve` listens."""

    host: Text = setting(Text("127.0.0.1"), "Address to listen on; any other than loopback needs a token.")
    port: int = setting(8765, "Port to listen on; 0: any free one.", at_least=0, at_most=65535)
    token: Secret | None = setting(
        None,
        "A token of the local user's with every scope; where it is set, every request must carry a token.",
    )
    auth: Literal["auto", "token"] = setting(
        "auto",
        "Who must show a token: everybody (`token`), or (`auto`) nobody while only this machine can reach the gateway.",
    )
    public_url: Text | None = setting(
        None,
        "The address people use where it is another, such as that of a proxy with TLS: https://outlast.example.",
    )
    max_body_bytes: int = setting(
        8 * 1024 * 1024, "How large the body of a request may be.", unit="bytes", at_least=1024
    )
    max_requests_per_second: float = setting(
        100.0,
        "How many requests of one user are answered in a second; twice as many at once.",
        unit="requests a second",
        at_least=1,
    )
    max_streams_per_user: int = setting(
        100, "How many event streams one user may have open.", unit="streams", at_least=1
    )
