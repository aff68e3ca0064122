"""The reference page of all settings, made from the tree (`just docs`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from outlast.wiring.settings.spec import SettingField, chooser_of, fields_of, item_type, without_none
from outlast.wiring.settings.task_tree import TaskFile
from outlast.wiring.settings.text import Secret, Text
from outlast.wiring.settings.tree import Settings

_HEAD: Final = """\
# Settings

Made from the code by `just docs`; do not edit.

`outlast.yaml` or `config.yaml` in the working directory is read, or the file that `--config` or `OUTLAST_CONFIG` names; both of
the first two at once is an error. Tasks are files in `tasks/` beside it. Without a file, everything has its default. Unknown keys
and wrong values are refused with file, line and path. `--set key=value` sets one key for one command: a dotted path as below,
`task.` before a task's keys, the value as YAML.

## References

`${NAME}` and `${NAME:-default}` in any value but prompts and descriptions stand for a variable of the environment. The value of a
variable is taken once and literally: what looks like a reference in it stays text. The default counts when the variable is not
set or empty; it cannot hold another reference. Nothing else is special: `$NAME`, `$$` and an unclosed `${` stay as they are written
(the last is reported). There is no escape; a value that must contain `${NAME}` itself comes from a variable.

References are resolved when the part that needs them is built, so a variable of an unused part may be missing. A missing one
that is needed ends the command with exit code 2 and names the key and the variable. A secret whose variable is empty counts as
missing.

## Secrets

Keys of the type secret are shown as `***` everywhere, or as `${NAME}` where they are nothing but a reference. A document with
`***` in it is refused when it is loaded, so that a mask never takes the place of a secret. A run records references, never
values: a worker that carries it on resolves them itself. A role with a `base_url` or `provider` of its own does not inherit
`llm.api_key`.
"""

_TYPES: Final[dict[Any, str]] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    Text: "text",
    Secret: "secret",
}


def page() -> str:
    """The page, in Markdown."""
    told: dict[type, str] = {}
    configuration, task = [*_sections(Settings, "", told)], [*_sections(TaskFile, "", told)]
    parts = [_HEAD, "## The configuration\n", *configuration, "## A task\n", *task]
    return "\n".join(parts).rstrip() + "\n"


def _sections(section: type, path: str, told: dict[type, str]) -> Iterator[str]:
    """The tables of a section and of those below it; a kind of section that was `told` before is only named."""
    plain = [made for made in fields_of(section) if _below(made) is None]
    if plain:
        chooser = chooser_of(section)
        yield _table(plain, path, chooser.name if chooser else "")
    for made in fields_of(section):
        below = _below(made)
        if below is not None:
            suffix = {"map": ".NAME", "list": "[]"}.get(item_type(without_none(made.type)[0])[0], "")
            at = f"{path}NAME" if made.spec.is_rest else f"{path}{made.name}{suffix}"
            also = (
                f" Also spelled {' or '.join(f'`{alias}`' for alias in made.spec.aliases)}."
                if made.spec.aliases
                else ""
            )
            yield f"### `{at}`\n\n{made.spec.doc}{also}\n"
            if below in told:
                yield f"Its keys are those of `{told[below]}`.\n"
            else:
                told[below] = at
                yield from _sections(below, f"{at}.", told)


def _below(made: SettingField) -> type | None:
    """The section that the values of a field are, alone, in a list or under names."""
    shape, inner = item_type(without_none(made.type)[0])
    if shape in {"map", "list"}:
        shape, inner = item_type(inner)
    return inner if shape == "section" and fields_of(inner) else None


def _table(fields: list[SettingField], path: str, chooser: str) -> str:
    rows = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for made in fields:
        when = (
            f" Used with {chooser} {' or '.join(f'`{choice}`' for choice in made.spec.when)}."
            if made.spec.when
            else ""
        )
        meaning = f"{made.spec.doc}{_bounds(made)}{when}".replace("|", "\\|")
        rows.append(f"| `{path}{made.name}` | {_type(made.type)} | {_default(made)} | {meaning} |")
    return "\n".join([*rows, ""])


def _type(hint: Any) -> str:
    shape, inner = item_type(without_none(hint)[0])
    if shape == "choice":
        return " or ".join(f"`{choice}`" for choice in inner)
    if shape == "list":
        return f"list of {_type(inner)}"
    if shape == "map":
        return f"names with {_type(inner)}"
    return _TYPES.get(inner, "settings")


def _bounds(made: SettingField) -> str:
    low, high = made.spec.at_least, made.spec.at_most
    words = [made.spec.unit] if made.spec.unit else []
    words += [f"at least {low:g}"] if low is not None else []
    words += [f"at most {high:g}"] if high is not None else []
    return f" ({', '.join(words)})" if words else ""


def _default(made: SettingField) -> str:
    if made.spec.is_required:
        return "required"
    value = made.make_default()
    if value is None or value in ((), "") or (isinstance(value, Mapping) and not value):
        return "empty"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value:g}`"
    return f"`{value}`" if isinstance(value, str | int | Text) else "empty"
