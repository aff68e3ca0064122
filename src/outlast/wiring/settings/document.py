"""A YAML document as plain values, each with the line it was written on.

Read in the safe subset: no tags, no merge keys, no key twice, bounded size, depth and number of values however often an alias
repeats them. Messages never quote the document, because secrets may stand in it.
"""

from __future__ import annotations

import math
import re
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NoReturn

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.wiring.settings.problem import Place, Problem, mistake_of, shown_path

MAX_BYTES: Final = 256 * 1024
"""How large a file may be."""

MAX_DEPTH: Final = 32
"""How deep lists and mappings may nest."""

MAX_VALUES: Final = 20_000
"""How many values a document may have, aliases counted as often as they are used."""

MOST_KEPT: Final = 128
"""How many files are kept as they were parsed, since each start of a run reads those of all tasks."""

KeyPath = tuple[str, ...]
"""The keys that lead to a value from the top of its document; items of lists by their index."""

_STANDARD: Final = re.compile(r"tag:yaml\.org,2002:(?:null|bool|int|float|str|timestamp|map|seq)")
_QUOTED: Final = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_MEND: Final = "Correct it, then try again."


@dataclass(frozen=True, slots=True)
class Document:
    """Plain values, and the place of each by its path, which nobody changes. `name` is how messages call the document."""

    name: str
    value: Json
    places: dict[KeyPath, Place] = field(default_factory=dict)

    def place(self, path: KeyPath) -> Place:
        """Where the value at `path` was written, or else the nearest one around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(self.name))


def read_file(path: Path) -> Document:
    """The document in the file at `path`, parsed again when its text has changed.

    Raises CallerMistake (`unreadable_file`, `invalid_yaml`).
    """
    name = shown_path(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        problem = Problem(Place(name), "", f"the file cannot be read ({error.strerror})", "unreadable_file")
        raise mistake_of([problem], "Check the path and its permissions.") from error
    if len(content) > MAX_BYTES:
        _refuse(name, 0, f"the file is larger than {MAX_BYTES // 1024} KiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(name, content[: error.start].count(b"\n") + 1, "the file is not UTF-8 text")
    return _parsed(text, name)


@lru_cache(maxsize=MOST_KEPT)
def _parsed(text: str, name: str) -> Document:
    return parse(text, name)


def parse(text: str, name: str, place: Place | None = None) -> Document:
    """The document in `text`. With `place`, every value counts as written there. Raises CallerMistake (`invalid_yaml`)."""
    node, standard = _compose(text, name)
    reader = _NodeReader(name, standard, place)
    value = {} if node is None and place is None else None if node is None else reader.value(node, (), 0)
    return Document(name, value, reader.places)


def _compose(text: str, name: str) -> tuple[Any, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False
    try:
        return yaml.compose(text), yaml.constructor
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        detail = _QUOTED.sub(_without_words, error.problem or error.context or "it does not parse")
        line = mark.line + 1 if mark else 0
        is_reference = "${" in "".join(text.splitlines()[max(line - 1, 0) : line])
        hint = "; a ${NAME} inside { } or [ ] needs quotes" if is_reference else ""
        _refuse(name, line, f"this is not valid YAML: {detail}{hint}")
    except YAMLError:
        _refuse(name, _line_of_control_character(text), "there is a character that YAML does not allow")
    except RecursionError:
        _refuse(name, 0, f"it nests deeper than {MAX_DEPTH} levels")


def _without_words(quoted: re.Match[str]) -> str:
    """A quotation of the document cut out, single signs (what YAML expected) kept."""
    return quoted[0] if len(quoted[1] or quoted[2] or "") <= 1 else "..."


def _line_of_control_character(text: str) -> int:
    match = re.search(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    return text.count("\n", 0, match.start()) + 1 if match else 0


def _refuse(name: str, line: int, detail: str) -> NoReturn:
    raise mistake_of([Problem(Place(name, line), "", detail, "invalid_yaml")], _MEND) from None


class _NodeReader:
    """Turns composed nodes into plain values, within the bounds of this module."""

    def __init__(self, name: str, standard: Any, place: Place | None) -> None:
        self.places: dict[KeyPath, Place] = {}
        self._name = name
        self._standard = standard
        self._place = place
        self._count = 0

    def value(self, node: Any, path: KeyPath, depth: int) -> Json:
        line = node.start_mark.line + 1
        self.places.setdefault(path, self._place or Place(self._name, line))
        self._count += 1
        if self._count > MAX_VALUES:
            self._refuse(
                path, line, f"the document has more than {MAX_VALUES} values (aliases count each time)"
            )
        if depth > MAX_DEPTH:
            self._refuse(path, line, f"it nests deeper than {MAX_DEPTH} levels")
        if not _STANDARD.fullmatch(node.tag):
            self._refuse(path, line, "tags (such as !name) are not allowed; quote the value if it is text")
        if node.id == "mapping":
            return self._mapping(node, path, depth)
        if node.id == "sequence":
            return [self.value(item, (*path, str(index)), depth + 1) for index, item in enumerate(node.value)]
        return self._scalar(node, path, line)

    def _mapping(self, node: Any, path: KeyPath, depth: int) -> Json:
        values: dict[str, Json] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = self._key(key_node, path, line)
            if key in values:
                self._refuse((*path, key), line, "the key is written twice; keep one")
            self.places[(*path, key)] = self._place or Place(self._name, line)
            values[key] = self.value(value_node, (*path, key), depth + 1)
        return values

    def _key(self, node: Any, path: KeyPath, line: int) -> str:
        if node.tag == "tag:yaml.org,2002:merge":
            self._refuse(path, line, "merge keys (<<) are not supported; write the keys out")
        if node.id != "scalar":
            self._refuse(path, line, "a key must be text")
        return str(node.value)

    def _scalar(self, node: Any, path: KeyPath, line: int) -> Json:
        if node.tag in {"tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp"}:
            return str(node.value)
        try:
            value: Json = self._standard.construct_object(node)
        except ValueError:
            self._refuse(path, line, "this number cannot be read")
        if isinstance(value, float) and not math.isfinite(value):
            self._refuse(path, line, "a number must be finite")
        return value

    def _refuse(self, path: KeyPath, line: int, detail: str) -> NoReturn:
        place = self._place or Place(self._name, line)
        raise mistake_of([Problem(place, ".".join(path), detail, "invalid_yaml")], _MEND) from None
