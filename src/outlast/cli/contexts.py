"""How the context of a model call is printed: the budget split, then every part as the model saw it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Context = Mapping[str, Any]


def context_lines(context: Context) -> Iterator[str]:
    """The lines of a context, parts in the order the model saw them; parts of one message follow each other."""
    model = context["model"] or "the model"
    yield (
        f"{context['run_id']} at {context['seq']}: {context['role']} asks {model} to {context['purpose']} in {context['branch']}"
    )
    yield _digest(context)
    yield _budget(context)
    if context["tools"]:
        yield f"tools: {', '.join(context['tools'])}"
    for part in context["parts"]:
        yield ""
        yield f"--- {part['speaker']}, event {part['seq']}, {part['tokens']:,} tokens: {part['kind']}, {part['why']}"
        yield from _body(part)


def _digest(context: Context) -> str:
    if context["is_as_recorded"]:
        return f"digest {context['digest']}, as it was recorded when the model was asked"
    return (
        f"digest {context['digest']} DIFFERS from the recorded {context['recorded_digest'] or 'none'}: another version of "
        "outlast made that request, so what follows may not be exactly what the model saw"
    )


def _budget(context: Context) -> str:
    used = context["used_tokens"]
    split = " + ".join(f"{name} {tokens:,}" for name, tokens in used.items() if tokens)
    return f"budget {context['max_tokens']:,} tokens, used about {sum(used.values()):,}: {split}"


def _body(part: Mapping[str, Any]) -> Iterator[str]:
    if part.get("reasoning"):
        yield f"(reasoning) {part['reasoning']}"
    if part["text"]:
        yield part["text"]
    for call in part.get("tool_calls", ()):
        arguments = json.dumps(call["arguments"], ensure_ascii=False)
        yield f"-> {call['name']} {arguments} ({call['id']})"
    if part.get("tool_call_id"):
        yield f"<- {part['tool_name']} ({part['tool_call_id']})"
