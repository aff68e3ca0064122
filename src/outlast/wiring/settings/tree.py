"""The settings of outlast, as one frozen tree: every key of `outlast.yaml` with its default, unit and meaning.

A setting is one field here; the reader, the errors, `config show` and the reference page follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from outlast.domain.dataclass import dataclass
from outlast.wiring.settings.parts import (
    Alerts,
    BackgroundTasks,
    Gateway,
    Logging,
    McpServer,
    Memory,
    Retry,
    Sandbox,
    Search,
    Shadow,
    Tools,
)
from outlast.wiring.settings.spec import setting
from outlast.wiring.settings.text import Secret, Text, missing_variable

ProviderName = Literal["offline", "openai_compatible", "scripted", "replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSetting:
    """What a model costs. Needed only where the built-in table does not know the model at its address."""

    input: float = setting(0.0, "Price of a million tokens that are sent.", unit="US dollars", at_least=0)
    output: float = setting(
        0.0, "Price of a million tokens that are answered.", unit="US dollars", at_least=0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """A model that is asked when the one before cannot be used; what is empty is taken from `llm`."""

    provider: ProviderName | None = setting(None, "As `llm.provider`.")
    base_url: Text | None = setting(None, "As `llm.base_url`.")
    api_key: Secret | None = setting(None, "As `llm.api_key`.")
    model: Text | None = setting(None, "As `llm.model`.")
    max_tokens: int | None = setting(None, "As `llm.max_tokens`.", unit="tokens", at_least=1)
    temperature: float | None = setting(None, "As `llm.temperature`.", at_least=0, at_most=2)
    timeout_seconds: float | None = setting(None, "As `llm.timeout_seconds`.", unit="seconds", at_least=0.1)
    idle_timeout_seconds: float | None = setting(
        None, "As `llm.idle_timeout_seconds`.", unit="seconds", at_least=0.1
    )
    context_window: int | None = setting(None, "As `llm.context_window`.", unit="tokens", at_least=1024)
    script: Text | None = setting(None, "As `llm.script`.")
    price: PriceSetting | None = setting(None, "As `llm.price`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """The language model that every role uses unless it says otherwise."""

    provider: ProviderName = setting(
        "offline",
        "Who answers model calls: the built-in offline provider (no network, no key), an OpenAI-compatible endpoint, a script, "
        "or a recorded conversation.",
    )
    base_url: Text | None = setting(
        None,
        "Address of the endpoint, up to and without `/chat/completions`.",
        when=("openai_compatible",),
        is_needed=True,
    )
    api_key: Secret | None = setting(
        None, "Key of the endpoint; leave it out where none is needed.", when=("openai_compatible",)
    )
    model: Text | None = setting(None, "Name of the model.", when=("openai_compatible", "scripted", "replay"))
    max_tokens: int | None = setting(
        None, "Most tokens one answer may have; empty: what the endpoint allows.", unit="tokens", at_least=1
    )
    temperature: float = setting(0.3, "How freely the model answers.", at_least=0, at_most=2)
    timeout_seconds: float = setting(
        600.0, "How long one model call may take.", unit="seconds", at_least=0.1, when=("openai_compatible",)
    )
    idle_timeout_seconds: float = setting(
        120.0,
        "How long one model call may bring nothing.",
        unit="seconds",
        at_least=0.1,
        when=("openai_compatible",),
    )
    context_window: int | None = setting(
        None,
        "Tokens the model can read at once, where known; it bounds the context.",
        unit="tokens",
        at_least=1024,
    )
    script: Text | None = setting(
        None,
        "File with the scripted answers or the recording, beside the config.",
        when=("scripted", "replay"),
    )
    price: PriceSetting | None = setting(
        None,
        "What the model costs, for `max_cost` and `stats`; empty: what the built-in table says of the model at this address.",
        when=("openai_compatible", "scripted", "replay"),
    )
    fallbacks: tuple[Fallback, ...] = setting(
        (),
        "Models that are asked in turn when this one fails for good or too often; the trace shows each switch.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Role(Fallback):
    """How one role differs from `llm`; what is empty is taken from there."""

    fallbacks: tuple[Fallback, ...] | None = setting(None, "As `llm.fallbacks`.")
    prompt: str | None = setting(
        None,
        "The role's prompt, word for word; or the path of a `.md` or `.txt` file beside the config.",
        is_verbatim=True,
    )
    tools: tuple[str, ...] | None = setting(
        None, "Tools the role may use, of those the task allows; empty: all of them."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The roles of a run. Each may override any key of `llm`, its prompt and its tools."""

    planner: Role = setting(Role(), "Makes the plan.")
    executor: Role = setting(Role(), "Works on each subtask.")
    reviewer: Role = setting(Role(), "Judges finished subtasks and the whole.")
    writer: Role = setting(Role(), "Writes the report.")
    chat: Role = setting(Role(), "Talks with a person.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model is shown in one call."""

    max_tokens: int | None = setting(
        None,
        "Most tokens of a context; empty: three quarters of `llm.context_window`, or 24000 where that is not known.",
        unit="tokens",
        at_least=1024,
    )
    recall_top_k: int = setting(
        8, "How many entries of memory one recall brings back.", at_least=0, at_most=100
    )
    isolation: Literal["per_subtask", "shared"] = setting(
        "per_subtask", "Whether each subtask has a context of its own or all share one."
    )
    compression_threshold: int = setting(
        20, "After how many steps a context is folded into a summary.", unit="steps", at_least=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDetection:
    """When repeated tool calls count as a loop."""

    window: int = setting(20, "How many of a branch's last calls are looked at.", unit="calls", at_least=2)
    threshold: int = setting(3, "At how many repeats without anything new the branch is steered.", at_least=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Persistence:
    """Where runs are kept."""

    backend: Literal["sqlite", "memory", "postgres", "redis"] = setting(
        "sqlite", "The kind of store. `memory` ends with the process."
    )
    path: Text = setting(
        Text(".outlast/outlast.db"),
        "File of the database, relative to the config's directory.",
        when=("sqlite",),
    )
    url: Secret | None = setting(
        None, "Address of the server, with its credentials.", when=("postgres", "redis"), is_needed=True
    )
    allow_loss: bool = setting(
        False,
        "Accept a Redis that may lose what was committed (no AOF always, or eviction).",
        when=("redis",),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """How runs are carried out."""

    max_concurrent_tools: int = setting(3, "How many tool calls of a run may be open at once.", at_least=1)
    max_concurrent_subtasks: int = setting(
        3, "How many subtasks of a run may be worked on at once.", at_least=1
    )
    retry: Retry = setting(Retry(), "How failed calls are tried again.")
    context: Context = setting(Context(), "What a model is shown.")
    loop_detection: LoopDetection = setting(LoopDetection(), "When repetition counts as a loop.")
    persistence: Persistence = setting(Persistence(), "Where runs are kept.")
    on_replan_limit: Literal["partial", "accept"] = setting(
        "partial", "At the last allowed plan: end with a partial result, or accept the work as it is."
    )
    unknown_outcome: Literal["ask", "error"] = setting(
        "ask",
        "When a call with an effect was interrupted and nobody knows what came of it: ask a person, or tell the model.",
    )
    lease_seconds: float = setting(
        15.0, "How long a worker's claim on a run holds without a sign of life.", unit="seconds", at_least=1
    )
    max_concurrent_runs: int = setting(4, "How many runs a worker works on at once.", at_least=1)
    max_runs_per_user: int | None = setting(
        None,
        "How many runs of one user all workers together work on at once; left out: no bound.",
        at_least=1,
    )
    max_runs_per_task: int | None = setting(
        None,
        "How many runs of one task all workers together work on at once; left out: no bound.",
        at_least=1,
    )
    drain_seconds: float = setting(
        30.0,
        "How long a worker that is told to stop lets calls in flight go on before it kills them.",
        unit="seconds",
        at_least=0,
    )
    cache_seconds: float = setting(
        300.0,
        "How long the result of a reading call answers the same call again; 0: never.",
        unit="seconds",
        at_least=0,
    )


@dataclass(frozen=True, slots=True)
class MissingVariable:
    """A number, truth value or choice at `key` refers to the variable `name`, which is not set; its default stands in."""

    key: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of one document.

    `home` is the directory relative paths start from, `file` the document read (None: defaults alone),
    `notices` are lines for people, `missing` the variables that plain values refer to and that are not set.
    """

    llm: Llm = setting(Llm(), "The language model.")
    harness: Harness = setting(Harness(), "How runs are carried out.")
    sandbox: Sandbox = setting(Sandbox(), "Where code that nobody has read is run.")
    roles: Roles = setting(Roles(), "How roles differ from `llm`.")
    search: Search | None = setting(
        None,
        "What `web_search` asks; left out: the corpus in `./docs` for `offline`, else the keyless web search.",
    )
    memory: Memory = setting(Memory(), "What outlives a run.")
    shadow: Shadow | None = setting(
        None, "A variant that runs beside the real thing, its effects suppressed.", aliases=("shadow_mode",)
    )
    background_tasks: BackgroundTasks = setting(BackgroundTasks(), "How work on other servers is followed.")
    alerts: Alerts = setting(Alerts(), "Who is told of dead letters and degraded tasks.")
    tools: Tools = setting(
        Tools(), "Where tools are found, and how single tools differ from their own defaults."
    )
    mcp_servers: Mapping[str, McpServer] = setting({}, "MCP servers by the name their tools are called with.")
    logging: Logging = setting(Logging(), "What is logged.")
    gateway: Gateway = setting(Gateway(), "Where `outlast serve` listens.")

    home: Path = field(default_factory=Path.cwd)
    file: Path | None = None
    notices: tuple[str, ...] = ()
    missing: tuple[MissingVariable, ...] = ()

    def require(self, *sections: str) -> None:
        """Raise CallerMistake (`missing_variable`) if a plain value in one of `sections` refers to a variable that is not set.

        A section is a dotted path, such as `gateway` or `harness.persistence`.
        """
        for missing in self.missing:
            if any(f"{missing.key}.".startswith(f"{section}.") for section in sections):
                raise missing_variable(missing.key, missing.name)

    def path(self, text: Text, environ: Mapping[str, str]) -> Path:
        """The absolute path that `text` names, relative ones taken from `home`."""
        return (self.home / Path(text.resolve(environ)).expanduser()).resolve()
