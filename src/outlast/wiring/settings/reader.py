"""Reads plain values into the settings tree, strictly: every unknown key and wrong type is a problem, and all are told together.

No message quotes a value, so that none can give a secret away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.wiring.settings.document import Document, KeyPath
from outlast.wiring.settings.keys import unknown_key
from outlast.wiring.settings.overlay import below, written
from outlast.wiring.settings.parts import Overlay
from outlast.wiring.settings.problem import Problem, nearest
from outlast.wiring.settings.spec import (
    SettingField,
    chooser_of,
    empty,
    fields_of,
    item_type,
    placeholder,
    without_none,
)
from outlast.wiring.settings.text import Secret, Text, is_mask
from outlast.wiring.settings.tree import MissingVariable, Settings
from outlast.wiring.settings.wording import (
    MASKED,
    bounds_broken,
    kind_of,
    not_a_choice,
    not_text,
    plain_value,
    wrong_kind,
)


@dataclass(slots=True)
class Reading:
    """One reading of a document: what it found beside the values.

    `root` is the section at the top, `prefix` comes before every path in messages. With `is_resolved`, references were resolved
    before: texts are taken literally, but for those kept as `{"reference": ...}`.
    """

    document: Document
    environ: Mapping[str, str]
    root: type = Settings
    prefix: KeyPath = ()
    is_resolved: bool = False
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    missing: list[MissingVariable] = field(default_factory=list)

    def whole(self) -> Any:
        """The document as an instance of `root`; what is wrong in it is noted and its default stands in."""
        found = self._section(self.root, self.document.value, ())
        return empty(self.root) if found is _INVALID else found

    def _section(self, cls: type, value: Json, path: KeyPath) -> Any:
        if value is None:
            value = {}
        if not isinstance(value, dict):
            return self._wrong(path, f"expected a mapping of keys, got {kind_of(value)}")
        fields = fields_of(cls)
        found = self._by_field(cls, fields, value, path)
        given = {
            made.name: self._field(made, found[made.name], path) for made in fields if made.name in found
        }
        given = {name: made for name, made in given.items() if made is not _INVALID}
        for made in fields:
            if made.spec.is_required and made.name not in given:
                if made.name not in found:
                    self._wrong((*path, made.name), "the key is missing and has no default")
                given[made.name] = placeholder(made)
        self._note_unused(cls, given, path)
        return cls(**given)

    def _by_field(
        self, cls: type, fields: tuple[SettingField, ...], value: dict[str, Json], path: KeyPath
    ) -> dict[str, Any]:
        names = {
            name: made for made in fields if not made.spec.is_rest for name in (made.name, *made.spec.aliases)
        }
        rest = next((made for made in fields if made.spec.is_rest), None)
        found: dict[str, Any] = {}
        for key, item in value.items():
            if key in names:
                made = names[key]
                if made.name in found:
                    self._wrong(
                        (*path, key), f"it is another spelling of {made.name}, which is given too; keep one"
                    )
                found[made.name] = (key, item)
            elif rest and isinstance(item, dict | None):
                found.setdefault(rest.name, ("", {}))[1][key] = item
            else:
                self._wrong((*path, key), self._unknown(cls, path, key, item, is_named=rest is not None))
        return found

    def _unknown(self, cls: type, path: KeyPath, key: str, item: Json, *, is_named: bool) -> str:
        """What to say of a key the section does not have; with `is_named` it may be a name with keys of its own."""
        siblings = [
            made.name for made in fields_of(cls) if item_type(without_none(made.type)[0])[0] != "section"
        ]
        if is_named and nearest(key, siblings) is None:
            return f"expected a mapping of keys, got {kind_of(item)}"
        return unknown_key(self.root, cls, self._dotted(path), key)

    def _field(self, made: SettingField, found: tuple[str, Json], path: KeyPath) -> Any:
        key, item = found
        hint, may_be_none = without_none(made.type)
        at = (*path, key) if key else path
        if item is None and may_be_none:
            return None
        value = (
            self._word(item, at, is_verbatim=True) if made.spec.is_verbatim else self._value(hint, item, at)
        )
        broken = bounds_broken(made.spec, value) if isinstance(value, int | float) else None
        return self._wrong(at, broken) if broken else value

    def _value(self, hint: Any, item: Json, path: KeyPath) -> Any:
        shape, inner = item_type(hint)
        if shape == "section":
            return self._overlay(item, path) if inner is Overlay else self._section(inner, item, path)
        if shape == "list":
            return self._list(inner, item, path)
        if shape == "map":
            return self._map(inner, item, path)
        if inner is str:
            return self._word(item, path)
        if inner in {Text, Secret}:
            return self._text(inner, item, path)
        return self._plain(shape, inner, item, path)

    def _list(self, inner: Any, item: Json, path: KeyPath) -> Any:
        if not isinstance(item, list):
            return self._wrong(path, f"expected a list, such as [a, b], got {kind_of(item)}")
        values = [self._value(inner, part, (*path, str(index))) for index, part in enumerate(item)]
        return _INVALID if _INVALID in values else tuple(values)

    def _map(self, inner: Any, item: Json, path: KeyPath) -> Any:
        if not isinstance(item, dict):
            return self._wrong(path, f"expected a mapping of names, got {kind_of(item)}")
        values = {key: self._value(inner, part, (*path, key)) for key, part in item.items()}
        return {key: value for key, value in values.items() if value is not _INVALID}

    def _word(self, item: Json, path: KeyPath, *, is_verbatim: bool = False) -> Any:
        """A text that is used as it is read: resolved at once, or word for word."""
        if not isinstance(item, str):
            return self._wrong(path, not_text(item))
        return item if is_verbatim or self.is_resolved else self._expanded(item, path)

    def _text(self, kind: type[Text], item: Json, path: KeyPath) -> Any:
        """A text that is resolved when it is needed."""
        if self.is_resolved and isinstance(item, dict) and isinstance(item.get("reference"), str):
            return kind(str(item["reference"]), self._dotted(path))
        if not isinstance(item, str):
            return self._wrong(path, not_text(item))
        if is_mask(item, is_secret=kind is Secret):
            return self._wrong(path, MASKED)
        text = kind(item, self._dotted(path), is_literal=self.is_resolved)
        self._note_leftover(text, path)
        return text

    def _plain(self, shape: str, inner: Any, item: Json, path: KeyPath) -> Any:
        if isinstance(item, str) and not self.is_resolved:
            resolved = self._expanded(item, path)
            if resolved is _INVALID:
                return _INVALID
            item = resolved if resolved == item else plain_value(resolved)
        if shape == "choice":
            return (
                item
                if isinstance(item, str) and item in inner
                else self._wrong(path, not_a_choice(inner, item))
            )
        if isinstance(item, bool) != (inner is bool) or not isinstance(item, int | float):
            return self._wrong(path, wrong_kind(inner, item))
        if inner is int and not isinstance(item, int):
            return self._wrong(path, wrong_kind(inner, item))
        return inner(item)

    def _expanded(self, item: str, path: KeyPath) -> Any:
        text = Text(item, self._dotted(path))
        self._note_leftover(text, path)
        missing = text.missing(self.environ)
        if missing:
            self.missing.append(MissingVariable(text.key, missing[0]))
            return _INVALID
        return text.resolve(self.environ)

    def _note_leftover(self, text: Text, path: KeyPath) -> None:
        if text.leftover:
            self._notice(path, "keeps a '${' that is no reference; only ${NAME} and ${NAME:-default} are")

    def _overlay(self, item: Json, path: KeyPath) -> Any:
        part = Reading(
            below(self.document, path, item), self.environ, self.root, (*self.prefix, *path), self.is_resolved
        )
        whole = part.whole()
        self.problems += part.problems
        return Overlay(written(whole, item)) if isinstance(item, dict) else Overlay()

    def _note_unused(self, cls: type, given: Mapping[str, Any], path: KeyPath) -> None:
        chooser = chooser_of(cls)
        if chooser is None:
            return
        choice = given.get(chooser.name, chooser.make_default())
        for made in fields_of(cls):
            is_off = made.spec.when and choice not in made.spec.when
            if is_off and made.name in given and given[made.name] != made.make_default():
                self._notice((*path, made.name), f"is not used, because {chooser.name} is {choice}")

    def _notice(self, path: KeyPath, detail: str) -> None:
        self.notices.append(f"{self.document.place(path)}: {self._dotted(path)} {detail}.")

    def _wrong(self, path: KeyPath, detail: str) -> Any:
        self.problems.append(Problem(self.document.place(path), self._dotted(path), detail))
        return _INVALID

    def _dotted(self, path: KeyPath) -> str:
        return ".".join((*self.prefix, *path))


class _Invalid:
    """Stands for a value that could not be read."""


_INVALID = _Invalid()
