"""What drivers make of what servers say: failures into replies, wire shapes into snapshots. Nothing here asks anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
from mcp_types import HEADER_MISMATCH, INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY
from pydantic import ValidationError

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.failure import Kind, ServerFailure
from outlast.adapters.mcp.results import product_of
from outlast.domain.bounded import bound
from outlast.domain.door import Json, canonical_json, clean_text, stored_form
from outlast.domain.errors import ModelMistake, ToolTrouble
from outlast.ports.background_driver import (
    Answer,
    Forgotten,
    Handle,
    Product,
    Question,
    RemoteStatus,
    Trouble,
)

MOST_MESSAGE_BYTES: Final = 4_000
MOST_QUESTIONS: Final = 20
MOST_SCHEMA_BYTES: Final = 64_000
LONGEST_POLL_SECONDS: Final = 86_400.0

LEAST_ID_CHARACTERS: Final = 6

_CLOAK: Final = "{task}"
_KNOWN: Final = frozenset(RemoteStatus)
_OURS_TO_MEND: Final = frozenset({HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY})
_WORDS: Final = {"running": RemoteStatus.WORKING, "canceled": RemoteStatus.CANCELLED}


def cloaked(value: Any, remote_id: str) -> Any:
    """A value of the wire with the remote id taken out of all texts and keys; servers put it anywhere, keys of questions included.

    Ids that are too short to be told from other words are left alone.
    """
    if len(remote_id) < LEAST_ID_CHARACTERS:
        return value
    match value:
        case str():
            return value.replace(remote_id, _CLOAK)
        case list():
            return [cloaked(item, remote_id) for item in value]
        case dict():
            return {cloaked(key, remote_id): cloaked(item, remote_id) for key, item in value.items()}
        case _:
            return value


def uncloaked(key: str, remote_id: str) -> str:
    """The key of a question as the server knows it."""
    return key.replace(_CLOAK, remote_id)


def reply_of(failure: ServerFailure, config: ServerConfig, handle: Handle) -> Forgotten | Trouble:
    """What a failed request about a task means for it.

    Only the server's own word that it does not know the task counts as forgotten; a method that is not there may be a deploy under
    way. Wrong credentials and refusals of our protocol need an operator.
    """
    name, detail = f"mcp_servers.{config.name}", cloaked(failure.detail, handle.remote_id)
    if failure.rpc_code == INVALID_PARAMS:
        return Forgotten()
    if failure.rpc_code in _OURS_TO_MEND:
        step = (
            f"See that {name} names the server that began the task, and which version of the protocol it has."
        )
        return Trouble("mcp_protocol", detail, step, passing=False)
    if failure.kind in (Kind.REFUSED, Kind.NOT_STARTED):
        return Trouble("mcp_refused", detail, failure.next_step, passing=False)
    if failure.kind is Kind.NONSENSE:
        return Trouble("mcp_nonsense", detail, failure.next_step, passing=False)
    return Trouble(
        "mcp_unavailable", detail, failure.next_step, retry_after_seconds=failure.retry_after_seconds
    )


def other_principal(handle: Handle, config: ServerConfig) -> Trouble | None:
    """Why this configuration may not touch a task: it was begun at another place, or as somebody else."""
    if handle.principal == config.principal:
        return None
    return Trouble(
        "mcp_other_principal",
        f"The task was begun when mcp_servers.{config.name} named another place or identity.",
        f"Put mcp_servers.{config.name} back as it was until its tasks have ended, or cancel them.",
        passing=False,
    )


def nonsense(config: ServerConfig, what: str) -> Trouble:
    """The server answered a question about a task with what makes no sense."""
    detail = f"The MCP server {config.name} answered a question about a task with nonsense: {what}."
    return Trouble("mcp_nonsense", detail, "Tell whoever makes the server.", passing=False)


def status_of(word: object) -> RemoteStatus:
    """A status; a word nobody knows counts as working."""
    text = str(word)
    return RemoteStatus(text) if text in _KNOWN else _WORDS.get(text, RemoteStatus.WORKING)


def seconds_of_ms(milliseconds: float | None) -> float | None:
    """Milliseconds of the wire in seconds; None for what is no time."""
    return seconds_in(None if milliseconds is None else milliseconds / 1000)


def seconds_in(value: object) -> float | None:
    """A time to wait in seconds, at most a day; None for what is none."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or value <= 0
    ):
        return None
    return min(float(value), LONGEST_POLL_SECONDS)


def message_of(text: object) -> str:
    """A message of the server, bounded."""
    return bound(clean_text(str(text)), MOST_MESSAGE_BYTES).shown if text else ""


def questions_in(requests: Mapping[str, Any] | None) -> dict[str, Question]:
    """The questions of a task by their keys, as the wire has them: `{key: {method, params}}`."""
    found = list((requests or {}).items())[:MOST_QUESTIONS]
    return {clean_text(key): question_of(request) for key, request in found}


def question_of(request: object) -> Question:
    """One request for input. Whatever is no question to a person, or too large to be shown, can only be declined."""
    asked = request if isinstance(request, Mapping) else {}
    given = asked.get("params")
    params = given if isinstance(given, Mapping) else {}
    if asked.get("method") != "elicitation/create":
        return Question(
            "unsupported", message_of(f"It asks for {asked.get('method')}, which nobody gives it.")
        )
    message = message_of(params.get("message"))
    if params.get("mode") == "url":
        return Question("url", message, url=message_of(params.get("url")))
    schema = _schema(params.get("requestedSchema"))
    return Question("unsupported", message) if schema is None else Question("form", message, schema)


def answer_form(answer: Answer) -> dict[str, Json]:
    """An answer as the wire has it."""
    if answer.action != "accept":
        return {"action": answer.action}
    return {"action": "accept", "content": dict(answer.content)} if answer.content else {"action": "accept"}


async def product_in(result: object) -> Product:
    """What a finished task came to; a result that is none of a tool, or too large to be kept, is shown as far as it goes."""
    try:
        return await product_of(types.CallToolResult.model_validate(result, by_name=False))
    except (ValidationError, ModelMistake, ToolTrouble):
        return Product(bound(clean_text(_as_text(result))).shown)


def _as_text(value: object) -> str:
    try:
        return canonical_json(stored_form(value))
    except ModelMistake:
        return repr(value)


def _schema(sent: object) -> dict[str, Json] | None:
    if not isinstance(sent, Mapping):
        return None
    try:
        schema = stored_form(dict(sent))
    except ModelMistake:
        return None
    is_fine = isinstance(schema, dict) and len(canonical_json(schema)) <= MOST_SCHEMA_BYTES
    return schema if is_fine and isinstance(schema, dict) else None
