"""All keys there are, and what an unknown one was probably meant to be."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from outlast.wiring.settings.problem import listed, nearest
from outlast.wiring.settings.spec import fields_of, item_type, without_none

_PLACEHOLDER = "NAME"

_ELSEWHERE = {
    "task": "a task has a file of its own, tasks/NAME.yaml",
    "tasks": "tasks are files of their own, tasks/NAME.yaml",
    "limits": "limits are keys of a task, such as task.max_steps in tasks/NAME.yaml",
}


def unknown_key(root: type, section: type, path: str, key: str) -> str:
    """What to say of `key`, which the section at `path` of a document of kind `root` does not have."""
    siblings = [made.name for made in fields_of(section) if not made.spec.is_rest]
    near = nearest(key, siblings)
    if near:
        return f"unknown key; did you mean {near}?"
    if not path and key in _ELSEWHERE:
        return f"unknown key; {_ELSEWHERE[key]}"
    elsewhere = [found for found in all_keys(root) if found.rpartition(".")[2] == key]
    if elsewhere:
        return f"unknown key here; did you mean {elsewhere[0]}?"
    return f"unknown key; there {'are' if len(siblings) > 1 else 'is'} {listed(siblings)}"


@functools.cache
def all_keys(section: type) -> tuple[str, ...]:
    """The dotted path of every key below `section`; `NAME` stands for names that users choose, `0` for items of lists."""
    return tuple(_walk(section, ()))


def _walk(section: type, path: tuple[str, ...]) -> Iterator[str]:
    for made in fields_of(section):
        at = path if made.spec.is_rest else (*path, made.name)
        if not made.spec.is_rest:
            yield ".".join(at)
        shape, inner = item_type(without_none(made.type)[0])
        if shape in {"map", "list"}:
            at = (*at, _PLACEHOLDER if shape == "map" else "0")
            shape, inner = item_type(inner)
        if shape == "section":
            yield from _walk(inner, at)
