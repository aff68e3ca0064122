"""Conversations as the engine holds them with the offline model: fenced material, labelled requests, tool results."""

import json
from typing import Any

from outlast.adapters.providers.offline import OfflineProvider
from outlast.domain.ids import source_key
from outlast.domain.message import Message
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer, ToolSchema
from tests.unit.adapters.providers.asking import a_request, ask

NONCE = "5f0c9a1be2d74c36"

SEARCH = ToolSchema(
    "web_search",
    "Search",
    {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
)
FETCH = ToolSchema("web_fetch", "Fetch", {"type": "object", "properties": {"url": {"type": "string"}}})
WRITE = ToolSchema("write_report", "Hand in the report", {"type": "object"})


def fenced(material: Any, origin: str = "tool web_fetch", nonce: str = NONCE) -> str:
    """`material` between the lines of a fence; what is no text goes in as JSON."""
    text = material if isinstance(material, str) else json.dumps(material, ensure_ascii=False)
    return f"<<untrusted {nonce} from {origin}>>\n{text}\n<<end {nonce}>>"


def hit(url: str, title: str = "", snippet: str = "") -> dict[str, str]:
    """A search result as the tool shows it."""
    return {"url": url, "title": title, "snippet": snippet, "source": source_key(url)}


def page(url: str, text: str, title: str = "") -> dict[str, str]:
    """A page that was read, as the tool shows it."""
    return {"source": source_key(url), "url": url, "title": title, "text": text}


def subtask(question: str, overall: str, more: str = "") -> Message:
    """The request that opens a subtask."""
    return Message(
        "user",
        f"QUESTION: {overall}\n\nSUBTASK: s1\nSUBTASK QUESTION: {question}\nDONE WHEN: it is answered\n{more}",
    )


def turn(number: int, *called: tuple[str, dict[str, Any], Any]) -> list[Message]:
    """An assistant's calls (tool, arguments, result) and their answers."""
    calls = tuple(
        ToolCall(f"c{number}-{at}", tool, arguments) for at, (tool, arguments, _) in enumerate(called)
    )
    answers = [
        Message("tool", fenced(result, f"tool {tool}"), (), calls[at].id, tool)
        for at, (tool, _, result) in enumerate(called)
    ]
    return [Message("assistant", "", calls), *answers]


def searched(query: str, *hits: dict[str, str], number: int = 1) -> list[Message]:
    """One search and its hits."""
    return turn(number, ("web_search", {"query": query}, {"results": list(hits)}))


def fetched(*pages: dict[str, str], number: int = 2) -> list[Message]:
    """Pages fetched in one turn."""
    return turn(number, *(("web_fetch", {"url": one["url"]}, one) for one in pages))


async def answered(purpose: str, *messages: Message | str, **changes: Any) -> ModelAnswer:
    """The model's answer."""
    return await ask(OfflineProvider(), a_request(*messages, purpose=purpose, **changes))


async def told(purpose: str, *messages: Message | str, **changes: Any) -> Any:
    """The JSON value the model answers with."""
    return json.loads((await answered(purpose, *messages, **changes)).text)
