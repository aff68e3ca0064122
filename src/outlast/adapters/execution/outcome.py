"""What a tool returned, in the one form the engine reads, and the same as bytes on the way out of a child process."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from outlast.adapters.execution.revive import plain_json
from outlast.domain.bounded import bound
from outlast.domain.door import clean_text, in_words, stored_form
from outlast.domain.errors import CallerMistake, ModelMistake, OutlastError, Passing, ToolTrouble
from outlast.domain.source import Found
from outlast.ports.background_driver import Handle
from outlast.ports.tool import Ask, Draft, ReadSource, ToolResult

Answer = ToolResult | Ask | Draft | Handle

OTHERWISE: Final = "Call it in another way, or go on without it."
"""What a model can do about a tool that fails."""

MOST_FRAME_BYTES: Final = 8 * 1024 * 1024
"""The largest answer that leaves a child process."""

_ERRORS: Final[Mapping[str, type[OutlastError]]] = {
    "mistake": CallerMistake,
    "passing": Passing,
    "trouble": ToolTrouble,
}
_MOST_TEXT_BYTES: Final = 1024 * 1024


def answer_of(returned: object) -> Answer:
    """`returned` as a ToolResult, Ask, Draft or Handle; any other value counts as the data of a success.

    The data becomes plain JSON (bytes stay bytes, for whoever holds the artifacts). What JSON cannot hold
    makes a failure that names the place.
    """
    if isinstance(returned, ToolResult):
        result = returned
    elif isinstance(returned, Ask) and not _is_text(returned.question):
        return failed(f"The tool asked a question that is no text: {returned.question!r:.200}")
    elif isinstance(returned, Ask | Draft | Handle):
        return returned
    else:
        result = ToolResult(success=True, data=returned)
    if isinstance(result.data, bytes):
        return result
    try:
        data = stored_form(plain_json(result.data))
    except ModelMistake as refused:
        return failed(f"The tool returned what JSON cannot hold: {refused.detail}")
    return result if data is result.data else replace(result, data=data)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def failed(error: str) -> ToolResult:
    """A failure with that text."""
    return ToolResult(success=False, error=clean_text(error))


def raised(error: BaseException) -> OutlastError:
    """What an exception a tool let out means: outlast's own as they are, any other a trouble that may pass."""
    if isinstance(error, OutlastError) and _is_whole(error):
        return error
    return Passing("tool_failed", in_words(error), OTHERWISE)


def _is_whole(error: OutlastError) -> bool:
    """Was it made as ours are? A subclass of a tool's own may make it without."""
    told = vars(error)
    return isinstance(told.get("code"), str) and "detail" in told and "next_step" in told


def encode(answer: Answer | BaseException) -> bytes:
    """`answer` as at most MOST_FRAME_BYTES of JSON.

    A text that is longer than a mebibyte keeps its head and tail and names its true size; any other answer
    that is too large becomes a failure that names it.
    """
    if (
        isinstance(answer, ToolResult)
        and isinstance(answer.data, str)
        and len(answer.data) > _MOST_TEXT_BYTES // 4
    ):
        answer = replace(answer, data=bound(answer.data, _MOST_TEXT_BYTES).shown)
    frame = json.dumps(_record(answer), ensure_ascii=False).encode("utf-8", "replace")
    if len(frame) <= MOST_FRAME_BYTES:
        return frame
    size = f"The tool returned {len(frame)} bytes, more than the {MOST_FRAME_BYTES} that can be passed on."
    return encode(failed(f"{size} Write them to a file of the workspace and return its path."))


def decode(frame: bytes) -> Answer:
    """The answer in a frame made by `encode`.

    Raises the error it holds (ToolTrouble, Passing, CallerMistake), and ToolTrouble for what cannot be read.
    """
    try:
        record = json.loads(frame)
        return _answer(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        detail = "The process of the tool sent back no readable result."
        raise ToolTrouble("tool_failed", detail, OTHERWISE) from error


def _record(answer: Answer | BaseException) -> dict[str, Any]:
    match answer:
        case Ask():
            return {"kind": "ask", "question": answer.question}
        case Draft():
            return {"kind": "draft", "content": plain_json(answer.content)}
        case Handle():
            return {"kind": "handle", "handle": asdict(answer)}
        case BaseException():
            error = raised(answer)
            kind = next((kind for kind, made in _ERRORS.items() if isinstance(error, made)), "trouble")
            return {"kind": kind, "code": error.code, "detail": error.detail, "next_step": error.next_step}
    is_binary = isinstance(answer.data, bytes)
    data = base64.b64encode(answer.data).decode("ascii") if isinstance(answer.data, bytes) else answer.data
    found, read = [asdict(one) for one in answer.found], [asdict(one) for one in answer.read]
    result = {"success": answer.success, "data": data, "error": answer.error, "found": found, "read": read}
    return {"kind": "binary" if is_binary else "result", **result}


def _answer(record: Mapping[str, Any]) -> Answer:
    kind = record["kind"]
    if kind == "ask":
        return Ask(str(record["question"]))
    if kind == "draft":
        return Draft(dict(record["content"]))
    if kind == "handle":
        return Handle(**record["handle"])
    if make := _ERRORS.get(kind):
        raise make(str(record["code"]), str(record["detail"]), str(record["next_step"]))
    return ToolResult(
        success=record["success"] is True,
        data=base64.b64decode(record["data"]) if kind == "binary" else record["data"],
        error=None if record["error"] is None else str(record["error"]),
        found=[Found(**one) for one in record["found"]],
        read=[ReadSource(**one) for one in record["read"]],
    )
