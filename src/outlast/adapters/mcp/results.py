"""What a server's tool answered, as a result of ours: text and JSON for the model, everything binary kept as an artifact."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

import mcp_types as types

from outlast.domain.bounded import SHOWN_BYTES, bound
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, clean_text, stored_form
from outlast.domain.errors import ModelMistake, ToolTrouble
from outlast.ports.background_driver import Product
from outlast.ports.tool import Artifacts

MOST_ERROR_BYTES: Final = 4_000
"""The largest text of an error that is shown."""

MOST_PRODUCT_BYTES: Final = 1_000_000
"""The largest result of a task that is handed on in one piece; of a longer one its head and tail are, and the rest is kept."""

MOST_CONTENTS_BYTES: Final = 32 * 1024 * 1024
"""The most bytes of artifacts that one result of a task brings."""

_LEAST_ENCODED: Final = 1_000
_ENCODED: Final = re.compile(
    r"(?:data:(?P<type>[\w.+-]+/[\w.+-]+)?[^,]{0,100},)?(?P<data>[A-Za-z0-9+/_-]{8}[A-Za-z0-9+/_\s-]*={0,2}\s*)"
)
_HOMES: Final = "kept as artifact"


@dataclass(slots=True)
class Reading:
    """An answer as it is read: `data` for the model, and the digests of what was kept."""

    data: Json = None
    is_error: bool = False
    artifacts: list[str] = field(default_factory=list)


async def read_result(result: types.CallToolResult, artifacts: Artifacts) -> Reading:
    """What is in a result. Binary parts, and texts that hold nothing but encoded bytes, go to `artifacts`.

    Structured content that says the same as the text is taken once. Raises ModelMistake (`not_storable`) for what cannot be kept.
    """
    reader = _Reader(artifacts)
    parts = [await reader.part(block) for block in result.content]
    structured = None
    if result.structured_content is not None:
        structured = stored_form(await reader.value(result.structured_content))
    texts = [part for part in parts if part]
    data = _joined(texts, structured)
    return Reading(data, result.is_error, reader.kept)


class Contents:
    """Artifacts that are not kept yet, by their digests, at most `MOST_CONTENTS_BYTES` of them."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}
        self._left_bytes = MOST_CONTENTS_BYTES

    async def put(self, content: str | bytes) -> str:
        """Take `content` in and return its digest. Raises ToolTrouble (`invalid_output`) when there is no room for it."""
        raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
        digest = hashlib.sha256(raw).hexdigest()
        if digest not in self.found:
            if len(raw) > self._left_bytes:
                detail = f"{len(raw)} bytes are more than there is room for."
                raise ToolTrouble("invalid_output", detail, "Ask the tool for less at a time.")
            self._left_bytes -= len(raw)
            self.found[digest] = raw
        return digest

    async def get(self, digest: str) -> bytes | None:
        """The content with that digest, if it was taken in."""
        return self.found.get(digest)


async def product_of(result: types.CallToolResult) -> Product:
    """What a task came to, bounded, with the contents of its artifacts; what is left out of a long text is one of them.

    Raises ModelMistake as `read_result` does, ToolTrouble (`invalid_output`) for more than can be kept.
    """
    contents = Contents()
    reading = await read_result(result, contents)
    text = reading.data if isinstance(reading.data, str) else json.dumps(reading.data, ensure_ascii=False)
    data = reading.data
    if len(text.encode("utf-8", "replace")) > MOST_PRODUCT_BYTES:
        data = bound(text, SHOWN_BYTES, await contents.put(clean_text(text))).shown
    return Product(data, reading.is_error, tuple(contents.found), contents.found)


def error_text(data: Json) -> str:
    """An error's text with its head and tail, in few bytes."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return bound(text.strip() or "The tool failed and did not say why.", MOST_ERROR_BYTES).shown


def _joined(texts: list[str], structured: Json) -> Json:
    """Text and structured content as one value, neither of them twice."""
    if structured is None:
        return "\n\n".join(texts)
    others = [text for text in texts if not _says(text, structured)]
    if not others:
        return structured
    return {"structured": structured, "content": list[Json](others)}


def _says(text: str, structured: Json) -> bool:
    """Is this text the structured content, or one of its fields, once more?"""
    known = [structured, *(structured.values() if isinstance(structured, dict) else ())]
    if text in known:
        return True
    try:
        return json.loads(text) in known
    except (ValueError, RecursionError):
        return False


class _Reader:
    """Reads the parts of one result; the same bytes are kept once, and known again where a text repeats them."""

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts
        self._notes: dict[str, str] = {}
        self.kept: list[str] = []

    async def part(self, block: Any) -> str:
        """A part of the content as text."""
        match block:
            case types.TextContent(text=text):
                return await self._text(text)
            case (
                types.ImageContent(data=data, mime_type=kind) | types.AudioContent(data=data, mime_type=kind)
            ):
                return await self._binary(data, kind)
            case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, text=text)):
                return f"[{clean_text(str(uri))}]\n{await self._text(text)}"
            case types.EmbeddedResource(
                resource=types.BlobResourceContents(uri=uri, blob=blob, mime_type=kind)
            ):
                return f"[{clean_text(str(uri))}] {await self._binary(blob, kind)}"
            case types.ResourceLink(uri=uri, name=name):
                return clean_text(f"[link to {name}: {uri}]")
            case _:
                return f"[a part of type {clean_text(str(getattr(block, 'type', '?')))} that cannot be shown]"

    async def value(self, value: Any) -> Any:
        """A structured value with texts of encoded bytes exchanged for notes."""
        match value:
            case str():
                return await self._text(value)
            case list():
                return [await self.value(item) for item in value]
            case dict():
                return {key: await self.value(item) for key, item in value.items()}
            case _:
                return value

    async def _text(self, text: str) -> str:
        if text in self._notes:
            return self._notes[text]
        encoded = _ENCODED.fullmatch(text) if len(text) >= _LEAST_ENCODED else None
        if encoded is None or not _looks_encoded(encoded["data"]):
            return clean_text(text)
        return await self._binary(text, encoded["type"], encoded["data"])

    async def _binary(self, sent: str, kind: str | None, data: str | None = None) -> str:
        note = await self._kept_note(sent if data is None else data, kind)
        self._notes.setdefault(sent, note)
        return note

    async def _kept_note(self, data: str, kind: str | None) -> str:
        kind = clean_text(kind or "application/octet-stream")[:100]
        try:
            raw = base64.b64decode(data.translate(_URL_SAFE), validate=False)
        except (binascii.Error, ValueError):
            return f"[{kind}: {len(data)} characters that cannot be decoded, left out]"
        digest = await self._artifacts.put(raw)
        if digest not in self.kept:
            self.kept.append(digest)
        return f"[{kind}, {len(raw)} bytes, {_HOMES} {digest}]"


_URL_SAFE: Final = str.maketrans("-_", "+/")


def _looks_encoded(data: str) -> bool:
    """Are these encoded bytes rather than a long word? Bytes at random hold capitals, small letters and digits."""
    sample = data[:_LEAST_ENCODED]
    return (
        any(one.isupper() for one in sample)
        and any(one.islower() for one in sample)
        and " " not in sample.strip()
    )


def structured_problems(
    result: types.CallToolResult, schema: Mapping[str, Json] | None, find: Any
) -> list[str]:
    """How the structured content differs from the schema its tool declares; empty where it fits or none is declared."""
    if schema is None or result.is_error:
        return []
    if result.structured_content is None:
        return ["it declares structured results and gave none"]
    try:
        problems: list[str] = find(schema, stored_form(result.structured_content))
    except ModelMistake as mistake:
        return [mistake.detail]
    return problems
