"""What an endpoint says when it does not answer, and which fault that is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import clean_text
from outlast.domain.errors import ModelCallFailed, ModelFault
from outlast.domain.message import Usage

NOTHING_SPENT: Final = Usage()

MAX_MESSAGE_CHARACTERS: Final = 500

_CONTEXT_CODES: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|request_too_large|context_window", re.IGNORECASE
)
_TOO_LARGE: Final = re.compile(r"request too large", re.IGNORECASE)
_CONTEXT_WORDS: Final = re.compile(
    r"context (?:length|window|size)|maximum context|(?:prompt|input)(?: is)? too (?:long|large)"
    r"|input tokens? .{0,20}exceed|tokens? .{0,30}exceeds? .{0,30}(?:limit|maximum)"
    r"|(?:exceeds?|longer than) .{0,40}(?:context|number of tokens)|reduce the length|too large for model",
    re.IGNORECASE | re.DOTALL,
)
_OUTPUT_LIMIT: Final = re.compile(
    r"max_(?:completion_|output_)?tokens.{0,20}(?:is )?too (?:large|big|high)", re.IGNORECASE
)
_NO_CREDIT: Final = re.compile(r"insufficient_(?:quota|balance)|credit balance", re.IGNORECASE)

_BY_WORD: Final[tuple[tuple[str, ModelFault], ...]] = (
    ("rate", "rate_limit"),
    ("quota", "rate_limit"),
    ("auth", "auth"),
    ("api_key", "auth"),
    ("permission", "auth"),
    ("invalid", "bad_request"),
    ("timeout", "timeout"),
    ("overload", "overload"),
    ("unavailable", "overload"),
    ("server", "overload"),
    ("internal", "overload"),
)
_BY_STATUS: Final[Mapping[int, ModelFault]] = {
    401: "auth",
    402: "auth",
    403: "auth",
    408: "timeout",
    409: "overload",
    413: "context_exceeded",
    425: "overload",
    429: "rate_limit",
    501: "bad_request",
}
_NEXT_STEPS: Final[Mapping[ModelFault, str]] = {
    "rate_limit": "Wait, or let fewer calls run at a time.",
    "overload": "Wait; if it lasts, look at the endpoint.",
    "unreachable": "Check that the endpoint runs at `llm.base_url`.",
    "timeout": "Wait; if it lasts, look at the endpoint.",
    "cut_stream": "Ask again; if it lasts, look at the endpoint and at proxies before it.",
    "context_exceeded": "Shorten the conversation, or set `harness.context.max_tokens` below the model's window.",
    "bad_request": "Check `llm.base_url`, `llm.model` and the other `llm` keys against what the endpoint supports.",
    "auth": "Check `llm.api_key`, and that its account may use `llm.model` and has credit.",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error a server stated: the HTTP status (0 when it came inside a stream without one), its words, code
    and parameter."""

    status: int
    message: str = ""
    code: str = ""
    param: str = ""


def read_refusal(status: int, body: bytes) -> Refusal:
    """The refusal in the body of an error response, whatever its form."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Refusal(status, _short(re.sub(r"<[^>]*>|\s+", " ", text)))
    return _refusal(value, status)


def refusal_in_stream(chunk: object, event_name: str) -> Refusal | None:
    """The refusal a chunk of a stream (or a body that came with 200) holds instead of an answer; None if it
    holds none."""
    if isinstance(chunk, dict) and chunk.get("error"):
        return _refusal(chunk, 0)
    is_error = event_name == "error" or (isinstance(chunk, dict) and chunk.get("object") == "error")
    return _refusal(chunk, 0) if is_error else None


def refusal_in_body(body: object) -> Refusal | None:
    """What a body that came with 200 says in place of an answer; None where it has the shape of an answer."""
    if isinstance(body, dict) and "choices" in body:
        return None
    return _refusal(body, 0)


def fault_of(refusal: Refusal) -> ModelFault:
    """Which fault a refusal is. An error inside a stream that cannot be told apart is a cut stream."""
    said = f"{refusal.code} {refusal.message}"
    if _is_about_context(refusal):
        return "context_exceeded"
    if refusal.status in (0, 429) and _NO_CREDIT.search(said):
        return "auth"
    if refusal.status:
        return _BY_STATUS.get(refusal.status, "overload" if refusal.status >= 500 else "bad_request")
    return next((fault for word, fault in _BY_WORD if word in refusal.code.lower()), "cut_stream")


def failed(
    fault: ModelFault, detail: str, *, retry_after_seconds: float | None = None, spent: Usage = NOTHING_SPENT
) -> ModelCallFailed:
    """The error to raise for `fault`, with the step to take next and what was used up all the same."""
    return ModelCallFailed(
        fault,
        detail,
        _NEXT_STEPS[fault],
        retry_after_seconds=retry_after_seconds,
        spent_tokens=spent.total_tokens,
        spent_output_tokens=spent.output_tokens,
        spent_usd=spent.cost_usd,
    )


def _is_about_context(refusal: Refusal) -> bool:
    """A limit on the answer is none on the context, and tokens a minute are not tokens in a window."""
    if _OUTPUT_LIMIT.search(refusal.message):
        return False
    if _CONTEXT_CODES.search(refusal.code) or _TOO_LARGE.search(refusal.message):
        return True
    return refusal.status not in (401, 403, 429) and bool(_CONTEXT_WORDS.search(refusal.message))


def _refusal(value: object, status: int) -> Refusal:
    if isinstance(value, list):
        value = value[0] if value else ""
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return Refusal(status, _short(_words(error)))
    code = " ".join(_words(error.get(key)) for key in ("code", "type", "status") if error.get(key))
    message = error.get("message") or error.get("detail") or error
    stated = next((int(word) for word in code.split() if re.fullmatch(r"[45]\d\d", word)), 0)
    return Refusal(status or stated, _short(_words(message)), code, _words(error.get("param") or ""))


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _short(text: str) -> str:
    return clean_text(text.strip()[:MAX_MESSAGE_CHARACTERS])
