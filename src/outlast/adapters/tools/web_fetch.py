"""`web_fetch`: read one page or file as text."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from outlast.domain.bounded import head_length
from outlast.domain.door import clean_text
from outlast.domain.ids import source_key
from outlast.ports.search import Page
from outlast.ports.tool import BaseTool, ReadSource, ToolContext, ToolResult

_MOST_SHOWN_BYTES: Final = 16_000


class WebFetch(BaseTool):
    """Reads an address, shows a window of its text, and enters the whole of it in the ledger of sources."""

    name = "web_fetch"
    description = (
        "Read a page or file as text. The page becomes a source that can be cited by its key. "
        "A long page comes in parts: call again with the next_offset of the last answer."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "url": {"type": "string", "minLength": 1, "description": "The address, as a search returned it."},
            "offset": {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "The character of the text to begin at.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 16000,
                "default": 12000,
                "description": "At most so many characters.",
            },
        },
        "required": ["url"],
        "additionalProperties": False,
    }
    effect = "read"

    async def execute(
        self, url: str, context: ToolContext, offset: int = 0, limit: int = 12_000
    ) -> ToolResult:
        """A window of the page's text, at most `limit` characters and 16,000 bytes of UTF-8.

        Raises ToolTrouble as Fetch does: `fetch_refused`, `fetch_failed`, `not_found`.
        """
        if context.fetch is None:
            return ToolResult(success=False, error="Reading pages is not configured for this run.")
        page = await context.fetch.fetch(url)
        text = clean_text(page.text)
        if offset and offset >= len(text):
            return ToolResult(
                success=False, error=f"The text ends at character {len(text)}; use a smaller offset."
            )
        data = _window(page, text, offset, limit)
        read = [ReadSource(page.url, page.title, text, page.media_type)]
        return ToolResult(success=True, data=data, read=read)


def _window(page: Page, text: str, offset: int, limit: int) -> dict[str, Any]:
    window = text[offset : offset + limit].encode("utf-8")
    part = window[: head_length(window, _MOST_SHOWN_BYTES)].decode("utf-8")
    data: dict[str, Any] = {
        "source": source_key(page.url),
        "url": page.url,
        "title": page.title,
        "text": part,
    }
    cut = f"Only the first part of {page.size_bytes} bytes was read." if page.is_cut else ""
    if note := " ".join(words for words in (page.note, cut) if words):
        data["note"] = note
    if offset + len(part) < len(text):
        data["next_offset"] = offset + len(part)
    return data
