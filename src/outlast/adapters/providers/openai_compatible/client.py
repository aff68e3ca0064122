"""The call itself: one POST, read as it comes, given up when it stalls or is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

import httpx2

from outlast.adapters.providers.openai_compatible.address import endpoint_url, hiding, shown_url, usable_key
from outlast.adapters.providers.openai_compatible.chunks import Assembly
from outlast.adapters.providers.openai_compatible.dialect import Dialect, adapted
from outlast.adapters.providers.openai_compatible.patience import patient
from outlast.adapters.providers.openai_compatible.refusal import Refusal, failed, fault_of, read_refusal
from outlast.adapters.providers.openai_compatible.request import own_names, wire_body
from outlast.adapters.providers.openai_compatible.retry_after import retry_after_seconds
from outlast.adapters.providers.openai_compatible.stream import EventReader
from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.message import Message
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, ToolSchema

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
MAX_REFUSAL_BYTES: Final = 64 * 1024
MAX_ANSWER_SECONDS: Final = 2 * 3600.0
"""How long one answer may take, however steadily it drips."""

MAX_ATTEMPTS: Final = 5
"""How often one call is sent at most, each time without an optional part the endpoint refused by name."""

CONNECT_TIMEOUT_SECONDS: Final = 10.0
_TOO_MUCH: Final = Refusal(400, f"The answer is longer than {MAX_ANSWER_BYTES} bytes.")
_HEADERS: Final = {"content-type": "application/json", "accept": "text/event-stream, application/json"}


class _Refused(NamedTuple):
    refusal: Refusal
    failure: ModelCallFailed


class OpenAICompatible:
    """A provider for any endpoint that speaks chat completions.

    `base_url` ends before `/chat/completions`; without `api_key` none is sent. A call fails with `timeout`
    when no piece of the answer comes for `timeout_seconds`, or, once the answer has begun, no byte at all for
    `idle_timeout_seconds` (keep-alives are bytes, but no piece), or no end for MAX_ANSWER_SECONDS. Proxies and
    keys from the environment are not used. What a model refuses by name (`response_format`, `stream_options`,
    `max_tokens`, `temperature`, `reasoning_content`) is left out or renamed, and remembered for that model, in
    `dialects` where several providers share one.

    Raises CallerMistake (`invalid_base_url`, `invalid_api_key`) for what can be seen to be wrong before a
    call.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_seconds: float = 600.0,
        idle_timeout_seconds: float = 120.0,
        dialects: MutableMapping[str, Dialect] | None = None,
    ) -> None:
        self._url = endpoint_url(base_url)
        key = usable_key(api_key or "")
        self._hide = hiding(key)
        self._timeout_seconds = timeout_seconds
        self._idle_timeout_seconds = idle_timeout_seconds
        self._dialects: MutableMapping[str, Dialect] = {} if dialects is None else dialects
        self._is_closed = False
        self._http = httpx2.AsyncClient(
            headers=_HEADERS | ({"authorization": f"Bearer {key}"} if key else {}),
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            trust_env=False,
        )

    def __repr__(self) -> str:
        """Where it calls; never with what key."""
        return f"OpenAICompatible({shown_url(self._url)!r}, api_key='***')"

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """The whole answer to `request`; pieces go to `observe` as they come. Raises ModelCallFailed, fault
        classified."""
        if self._is_closed:
            raise CallerMistake("provider_closed", "This provider is closed.", "Make a new one.")
        remembered = dialect = self._dialects.get(request.model, Dialect())
        for attempts_left in reversed(range(MAX_ATTEMPTS)):
            outcome = await self._attempt(request, dialect, observe)
            if isinstance(outcome, ModelAnswer):
                self._dialects[request.model] = dialect
                return outcome
            changed = adapted(dialect, outcome.refusal)
            if (
                changed is None
                and dialect is remembered != Dialect()
                and outcome.failure.fault == "bad_request"
            ):
                # Another server may be there by now, which takes what the one before refused, and not what that one took.
                changed = Dialect()
            if changed is None or not attempts_left:
                raise outcome.failure
            dialect = changed
        raise AssertionError("the last attempt returns or raises")

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """An estimate, made offline, of the tokens `messages` and `tools` would take."""
        return estimate_request_tokens(messages, tools)

    async def close(self) -> None:
        """Give up connections. Safe to call twice."""
        self._is_closed = True
        await self._http.aclose()

    async def _attempt(
        self, request: ModelRequest, dialect: Dialect, observe: Observer
    ) -> ModelAnswer | _Refused:
        assembly = Assembly(request, own_names(request))
        response = await self._send(wire_body(request, dialect))
        try:
            if not response.is_success:
                return await self._refused(response)
            await self._follow(response, assembly, observe)
        except (httpx2.HTTPError, TimeoutError) as error:
            if not assembly.is_whole:
                raise self._broke_off(error, assembly) from error
        finally:
            await response.aclose()
        return self._finished(assembly, response.headers.get("content-type", ""))

    async def _send(self, body: bytes) -> httpx2.Response:
        """The response once its headers are here."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                try:
                    return await self._post(body)
                except httpx2.RemoteProtocolError:
                    # A kept connection that the server gave up in the meantime; nothing of the request was answered.
                    return await self._post(body)
        except TimeoutError as error:
            raise failed("timeout", f"{self._where} sent nothing for {self._timeout_seconds:g} s.") from error
        except httpx2.HTTPError as error:
            raise failed("unreachable", f"{self._where} was not reached: {self._said(error)}.") from error

    async def _post(self, body: bytes) -> httpx2.Response:
        return await self._http.send(self._http.build_request("POST", self._url, content=body), stream=True)

    async def _follow(self, response: httpx2.Response, assembly: Assembly, observe: Observer) -> None:
        """Read the answer to its end, or to what cuts it short."""
        reader, taken_bytes = EventReader(), 0
        pieces = patient(
            response.aiter_bytes(),
            idle_seconds=self._idle_timeout_seconds,
            stall_seconds=self._timeout_seconds,
            whole_seconds=MAX_ANSWER_SECONDS,
            progress=lambda: assembly.progress,
            is_done=lambda: assembly.is_done,
        )
        async with aclosing(pieces):
            async for data in pieces:
                taken_bytes += len(data)
                for event in reader.feed(data):
                    _give(assembly.take(event), observe)
                if taken_bytes > MAX_ANSWER_BYTES:
                    assembly.trouble = assembly.trouble or _TOO_MUCH
                if assembly.trouble:
                    return
        for event in reader.end():
            _give(assembly.take(event), observe)
        _give(assembly.end(), observe)

    async def _whole(self, response: httpx2.Response, most_bytes: int) -> bytes:
        body = bytearray()
        async with asyncio.timeout(self._timeout_seconds):
            async for data in response.aiter_bytes():
                body += data
                if len(body) > most_bytes:
                    break
        return bytes(body)

    async def _refused(self, response: httpx2.Response) -> _Refused:
        try:
            body = await self._whole(response, MAX_REFUSAL_BYTES)
        except (httpx2.HTTPError, TimeoutError):
            body = b""
        refusal = read_refusal(response.status_code, body)
        refusal = replace(refusal, message=self._hide(refusal.message))
        if response.has_redirect_location:
            refusal = replace(
                refusal, message="It redirects elsewhere, and a key is not sent after a redirect."
            )
        wait_seconds = retry_after_seconds(response.headers, refusal.message, datetime.now(UTC))
        detail = (
            f"{self._where} refused the call ({refusal.status}): {refusal.message or 'it gives no reason'}"
        )
        return _Refused(refusal, failed(fault_of(refusal), detail, retry_after_seconds=wait_seconds))

    def _finished(self, assembly: Assembly, content_type: str) -> ModelAnswer:
        """The answer, if the server ended it."""
        if assembly.trouble:
            detail = f"{self._where} broke off with an error: {self._hide(assembly.trouble.message)}"
            wait_seconds = retry_after_seconds({}, assembly.trouble.message, datetime.now(UTC))
            raise failed(
                fault_of(assembly.trouble),
                detail,
                retry_after_seconds=wait_seconds,
                spent=assembly.usage(),
            )
        if assembly.is_whole:
            return assembly.answer()
        if "html" in content_type:
            raise failed(
                "bad_request", f"{self._where} answered with a web page; `llm.base_url` may lack its /v1."
            )
        raise failed(
            "cut_stream",
            f"{self._where} ended the answer before it was finished.",
            spent=assembly.usage(),
        )

    def _broke_off(self, error: Exception, assembly: Assembly) -> ModelCallFailed:
        if isinstance(error, TimeoutError):
            detail = f"{self._where} stopped sending the answer."
            return failed("timeout", detail, spent=assembly.usage())
        detail = f"{self._where} broke off: {self._said(error)}."
        return failed("cut_stream", detail, spent=assembly.usage())

    @property
    def _where(self) -> str:
        return f"The model endpoint {shown_url(self._url)}"

    def _said(self, error: Exception) -> str:
        return self._hide(str(error)).rstrip(".") or type(error).__name__


def _give(delta: Delta, observe: Observer) -> None:
    if delta.text or delta.reasoning:
        observe(delta)
