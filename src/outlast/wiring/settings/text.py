"""Texts of the configuration that may refer to variables of the environment, and secrets that never print.

`${NAME}` and `${NAME:-default}` are references; nothing else is. The value of a variable is taken once and as it is: what looks
like a reference in it stays text. `$$`, `$NAME`, an unclosed `${` and every other spelling stay as they are written. There is no
escape: a text that must contain `${NAME}` itself comes from a variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn, Self

from outlast.domain.errors import CallerMistake

MASK: Final = "***"
"""What stands for a secret wherever it would be shown."""

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\}")


class Text:
    """A text as it stands in the configuration, read by `resolve` when the part that needs it is built.

    `key` is the dotted path it was read from. Two texts are equal when they are written alike.
    """

    __slots__ = ("_is_literal", "_template", "key")

    def __init__(self, template: str, key: str = "", *, is_literal: bool = False) -> None:
        self._template = template
        self._is_literal = is_literal
        self.key = key

    @property
    def has_references(self) -> bool:
        """Does the text refer to any variable?"""
        return not self._is_literal and _REFERENCE.search(self._template) is not None

    @property
    def leftover(self) -> bool:
        """Does a `${` stay in the text that is no reference, and so would be used as it is?"""
        return not self._is_literal and "${" in _REFERENCE.sub("", self._template)

    def missing(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The variables the text needs and `environ` does not have, in their order."""
        if self._is_literal:
            return ()
        needed = (match[1] for match in _REFERENCE.finditer(self._template) if match[2] is None)
        return tuple(dict.fromkeys(name for name in needed if self._is_absent(environ.get(name))))

    def resolve(self, environ: Mapping[str, str]) -> str:
        """The text with each reference replaced, once and literally.

        A default stands in for a variable that is not set or empty. Raises CallerMistake (`missing_variable`) that names the key
        and the variable.
        """
        missing = self.missing(environ)
        if missing:
            raise missing_variable(self.key, missing[0], is_set=missing[0] in environ)
        if self._is_literal:
            return self._template
        return _REFERENCE.sub(lambda match: environ.get(match[1]) or match[2] or "", self._template)

    def resolved(self, environ: Mapping[str, str]) -> Self:
        """The same text, resolved for good: it refers to nothing any more."""
        return type(self)(self.resolve(environ), self.key, is_literal=True)

    def shown(self) -> str:
        """The text as people may see it: references by name, the parts that look like credentials masked."""
        return _mask_credentials(self._template)

    def _is_absent(self, value: str | None) -> bool:
        return value is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and type(other) is type(self) and other._template == self._template

    def __hash__(self) -> int:
        return hash(self._template)

    def __str__(self) -> str:
        return self.shown()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown()!r})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Secret(Text):
    """A text that nobody may see: it prints as `***` everywhere, and only `resolve` gives it away.

    A variable that is set but empty is as good as missing, so that an empty key is never sent.
    """

    __slots__ = ()

    @property
    def is_reference(self) -> bool:
        """Is the whole text one `${NAME}` without a default, so that its spelling gives nothing away?"""
        match = _REFERENCE.fullmatch(self._template)
        return not self._is_literal and match is not None and match[2] is None

    def shown(self) -> str:
        """`${NAME}` where the whole text is one reference, else `***`."""
        return self._template if self.is_reference else MASK

    def _is_absent(self, value: str | None) -> bool:
        return not value

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return MASK

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A secret is not written out. Write its `shown()` form, or resolve it where it is used."
        )


def missing_variable(key: str, name: str, *, is_set: bool = False) -> CallerMistake:
    """The mistake of referring, at `key`, to a variable that is not there (or, for a secret, is empty)."""
    state = "is empty" if is_set else "is not set"
    return CallerMistake(
        "missing_variable",
        f"{key} needs the environment variable {name}, which {state}.",
        f"Set {name}, or write ${{{name}:-...}} at {key} to give a default.",
    )


def is_mask(template: str, *, is_secret: bool) -> bool:
    """Was this text made for showing, so that taking it for a value would lose what it stands for?"""
    return MASK in template if is_secret else _MASKED.search(template) is not None


_MASKED: Final = re.compile(r"://\*\*\*@|=\*\*\*(?:$|[\s&])")
_USERINFO: Final = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
_CREDENTIAL: Final = re.compile(
    r"(?i)((?:^|[\s?&]|--?)[\w.-]*(?:key|token|secret|password|passwd|pwd|auth)[\w.-]*=)((?!\$\{)[^\s&]+)"
)


def _mask_credentials(template: str) -> str:
    return _CREDENTIAL.sub(rf"\g<1>{MASK}", _USERINFO.sub(MASK, template))
