"""Embeddings of any endpoint that speaks `/embeddings`."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from outlast.domain.door import clean_text
from outlast.domain.errors import Broken, CallerMistake, OutlastError, Passing
from outlast.domain.memory import Vector
from outlast.ports.embedder import EmbeddingPurpose

MAX_CHARS: Final = 8000
"""Of a longer text only the beginning is sent."""

LEAST_CHARS: Final = 500
"""Every endpoint is expected to take so much of a text."""

TEXTS_A_REQUEST: Final = 32

_PATH: Final = "/embeddings"
_MAY_PASS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_SHOWN_CHARS: Final = 300
_IS_TOO_LONG: Final = re.compile(
    r"too (?:long|large)|context[ _]length|maximum .{0,40}tokens|tokens? .{0,40}(?:exceed|limit|maximum)"
    r"|(?:exceed|longer|larger).{0,60}(?:tokens|length|batch|context)",
    re.IGNORECASE | re.DOTALL,
)


class _TooLong(Exception):
    """The endpoint says that what it was sent is too long for it."""


class OpenAIEmbedder:
    """An embedder at an endpoint. `base_url` ends before `/embeddings`; a request may take `timeout_seconds`.

    Its vectors are of the space MODEL/DIMENSIONS, wherever the endpoint is. Proxies and keys from the environment are not used.
    Raises CallerMistake (`invalid_base_url`, `invalid_api_key`) for what can be seen to be wrong before a call.
    """

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, *, timeout_seconds: float = 30.0
    ) -> None:
        self._url = _endpoint(base_url)
        self._model = model
        self._key = _key(api_key or "")
        self._timeout_seconds = timeout_seconds
        self._space: str | None = None
        self._most_chars = MAX_CHARS
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        """Where it asks; never with what key."""
        return f"OpenAIEmbedder({self._url.partition('?')[0]!r}, {self._model!r}, api_key='***')"

    async def space(self) -> str:
        """See `Embedder.space`."""
        if self._space is None:
            await self._ask(["space"])
        assert self._space is not None
        return self._space

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        """See `Embedder.embed`."""
        told = {at: clean_text(text)[:MAX_CHARS] for at, text in enumerate(texts) if text.strip()}
        places = list(told)
        vectors: list[Vector | None] = [None] * len(texts)
        for start in range(0, len(places), TEXTS_A_REQUEST):
            some = places[start : start + TEXTS_A_REQUEST]
            for at, vector in zip(some, await self._fitted([told[at] for at in some]), strict=True):
                vectors[at] = vector
        return vectors

    async def close(self) -> None:
        """See `Embedder.close`. Connections live no longer than a request."""

    async def _fitted(self, texts: list[str]) -> list[Vector]:
        """The vectors of texts. Where the endpoint says that they are too long, fewer are sent at a time; of one that is too long by
        itself, and of all after it, only as much of the beginning as it takes."""
        texts = [text[: self._most_chars] for text in texts]
        try:
            return await self._ask(texts)
        except _TooLong as refused:
            if len(texts) > 1:
                half = len(texts) // 2
                return [*await self._fitted(texts[:half]), *await self._fitted(texts[half:])]
            if len(texts[0]) <= LEAST_CHARS:
                raise self._broken(f"refused a text of {len(texts[0])} characters: {refused}") from refused
            self._most_chars = max(LEAST_CHARS, len(texts[0]) // 2)
            return await self._fitted(texts)

    async def _ask(self, texts: Sequence[str]) -> list[Vector]:
        answer = await self._post({"model": self._model, "input": list(texts), "encoding_format": "float"})
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            places = [int(row["index"]) for row in rows]
            vectors = [Vector.of(self._model, row["embedding"]) for row in rows]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._broken(f"answered with something else than embeddings ({error})") from error
        if places != list(range(len(texts))) or len({vector.space for vector in vectors}) > 1:
            raise self._broken(
                f"answered {len(texts)} texts with vectors for {places[:40]}, or of several lengths"
            )
        with self._lock:
            self._space = vectors[0].space
        return vectors

    async def _post(self, body: dict[str, Any]) -> Any:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with asyncio.timeout(self._timeout_seconds), httpx2.AsyncClient(trust_env=False) as http:
                response = await http.post(self._url, json=body, headers=headers)
        except (httpx2.HTTPError, TimeoutError, OSError) as error:
            raise self._unavailable(f"was not reached ({type(error).__name__})") from error
        if response.status_code in _MAY_PASS:
            raise self._unavailable(f"answered with status {response.status_code}")
        if not response.is_success:
            said = response.text[:_SHOWN_CHARS]
            shown = said.replace(self._key, "***") if self._key else said
            if response.status_code == 413 or (
                response.status_code in (400, 422) and _IS_TOO_LONG.search(said)
            ):
                raise _TooLong(shown)
            raise self._broken(f"refused with status {response.status_code}: {shown}")
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise self._broken("answered with something that is not JSON") from error

    def _unavailable(self, what: str) -> OutlastError:
        return Passing(
            "embedder_unavailable", f"The endpoint of memory.embedder {what}.", "It is tried again."
        )

    def _broken(self, what: str) -> OutlastError:
        return Broken(
            "embedder_broken",
            f"The endpoint of memory.embedder {what}.",
            "Check memory.base_url, memory.model and memory.api_key.",
        )


def _endpoint(base_url: str) -> str:
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise CallerMistake(
            "invalid_base_url",
            "`memory.base_url` is not the address of an HTTP endpoint.",
            "Write it as https://host/v1, and the key as `memory.api_key`.",
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix(_PATH) + _PATH
    return parts._replace(path=path, fragment="").geturl()


def _key(api_key: str) -> str:
    key = api_key.strip()
    if not all("!" <= character <= "~" for character in key):
        raise CallerMistake(
            "invalid_api_key",
            "`memory.api_key` holds characters that no header can carry (spaces, line ends or letters beyond ASCII).",
            "Copy the key again.",
        )
    return key
