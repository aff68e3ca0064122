"""Events as text and back: one JSON object an event, fields by name, defaults left out, big strings kept apart as payloads.

The codec is derived from the type hints of the event classes, once a class. Decoding is strict: an unknown field or
a value of another type is a damaged journal, never a guess.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import marshal
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from outlast.domain.door import Json, json_writer
from outlast.domain.errors import Broken
from outlast.domain.events import PinnedTool
from outlast.domain.quick import is_quick
from outlast.domain.run import Branch
from outlast.domain.task import TaskDefinition
from outlast.journal.written_out import Part, plainly, spelled

PAYLOAD_BYTES: Final = 8192
"""Strings of more bytes than this are stored once, by content."""

_SURELY_SHORT: Final = PAYLOAD_BYTES // 4
"""No text of at most so many characters has more than PAYLOAD_BYTES in UTF-8."""

_MARK: Final = "$payload"
_ESCAPE: Final = "$literally"

UNREADABLE: Final = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
"""What reading a damaged value may raise."""

Upcast = Callable[[dict[str, Json]], dict[str, Json]]
_EXACT: Final = frozenset({str, int, bool, float})
"""Types whose values are what JSON gives, and need no decoding."""

_SHARED: Final = frozenset({TaskDefinition, PinnedTool})
"""What many runs are pinned to alike: what is written alike is read as one value."""

_WRITTEN_OUT: Final = frozenset({Branch})
"""What is encoded with every digest and snapshot of a state, beside what is made by `quick`."""

MOST_SHARED: Final = 200
"""How many values of a kind are kept to be shared."""

Encoder = Callable[[Any], Any]
Decoder = Callable[[Any], Any]


def encode(value: Any) -> tuple[str, dict[str, bytes]]:
    """`value`, an instance of a dataclass, as one JSON object, and the payloads that refers to, by sha256 in hexadecimal."""
    body: str = _speller_of(type(value))(value)
    if len(body) <= _SURELY_SHORT and _is_unmarked(body):
        return body, {}
    payloads: dict[str, bytes] = {}
    return _dump(_with_payloads_apart(to_plain(value), payloads)), payloads


def decode(kind: type[Any], body: str, payloads: Mapping[str, bytes], upcast: Upcast | None = None) -> Any:
    """The instance of `kind` that `body` describes, its fields brought forward by `upcast` first.

    Raises Broken (`journal_damaged`) when it describes none.
    """
    try:
        plain = _loaded(body, payloads)
        return decoder_of(kind)(plain if upcast is None else upcast(plain))
    except UNREADABLE as error:
        raise Broken(
            "journal_damaged",
            f"A stored {kind.__name__} cannot be read: {error}",
            "Run `outlast db check`; restore the database from a backup if it is damaged.",
        ) from error


def payloads_named_in(body: str) -> list[str]:
    """The digests of the payloads a body refers to."""
    if _MARK not in body:
        return []
    found: list[str] = []
    try:
        _collect(json.loads(body), found)
    except UNREADABLE:
        return []  # whoever decodes it is told
    return found


def to_plain(value: Any) -> Any:
    """`value`, an instance of a dataclass, as plain JSON values, defaults left out."""
    return encoder_of(type(value))(value)


def from_plain(kind: type[Any], plain: Any) -> Any:
    """The instance of `kind` that `plain` describes; raises one of UNREADABLE when it describes none."""
    return decoder_of(kind)(plain)


def encoder_but_for(kind: type[Any], name: str) -> Encoder:
    """What turns instances of the dataclass `kind` into plain JSON values, all but the field `name`, which is left as it is.

    For many of them: to make it takes some milliseconds.
    """
    return _dataclass_encoder(kind, name)


def encoder_of(hint: Any) -> Encoder:
    """What turns values of the type `hint` into plain JSON values."""
    return _encoder_of(hint)


@cache
def _encoder_of(hint: Any) -> Encoder:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return _dataclass_encoder(hint)
    if origin is tuple:
        return _sequence_encoder(get_args(hint)[0])
    if origin in (frozenset, set):
        return sorted
    if origin is dict:
        return _mapping_encoder(get_args(hint)[1])
    if origin in (Union, types.UnionType):
        return _optional_encoder(hint)
    if hint is datetime:
        return lambda value: value.isoformat()
    if hint is float:
        return float
    if isinstance(hint, type) and issubclass(hint, Enum):
        return attrgetter("_value_")  # as `value`, which is a property written in Python
    return _same


def decoder_of(hint: Any) -> Decoder:
    """What turns plain JSON values into values of the type `hint`."""
    return _decoder_of(hint)


@cache
def _decoder_of(hint: Any) -> Decoder:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return _sharing(_dataclass_decoder(hint)) if hint in _SHARED else _dataclass_decoder(hint)
    if origin is tuple:
        each = decoder_of(get_args(hint)[0])
        return lambda value: tuple([each(item) for item in _checked(list, value)])
    if origin in (frozenset, set):
        return lambda value: frozenset(_checked(list, value))
    if origin is dict:
        item_of = decoder_of(get_args(hint)[1])
        return lambda value: {key: item_of(item) for key, item in _checked(dict, value).items()}
    if origin is Literal:
        return _literal_decoder(get_args(hint))
    if origin in (Union, types.UnionType):
        return _optional_decoder(hint)
    if hint is datetime:
        return datetime.fromisoformat
    if isinstance(hint, type):
        return _scalar_decoder(hint)
    return _same


def _speller_of(hint: Any) -> Encoder:
    """What spells values of the type `hint` as JSON: the same, letter by letter, as the dump of their plain form."""
    return _made_speller_of(hint)


@cache
def _made_speller_of(hint: Any) -> Encoder:
    if isinstance(hint, type) and is_quick(hint):
        return spelled(_parts_of(hint, _speller_of))
    if hint is str:
        return json.encoder.encode_basestring
    if hint is int:
        return int.__repr__
    if hint is bool:
        return lambda value: "true" if value else "false"
    if get_origin(hint) is tuple:
        each = _speller_of(get_args(hint)[0])
        return lambda value: f"[{','.join([each(item) for item in value])}]"
    encode_value = encoder_of(hint)
    return _dump if encode_value is _same else lambda value: _dump(encode_value(value))


def _parts_of(kind: Any, through: Callable[[Any], Encoder]) -> list[Part]:
    hints = _hints(kind)
    return [
        (field.name, _default_of(field), through(hints[field.name])) for field in dataclasses.fields(kind)
    ]


def _dataclass_encoder(kind: Any, left_as_it_is: str | None = None) -> Encoder:
    parts = [
        (name, default, None if through is _same or name == left_as_it_is else through)
        for name, default, through in _parts_of(kind, encoder_of)
    ]
    if is_quick(kind) or kind in _WRITTEN_OUT or left_as_it_is is not None:
        return plainly(parts)

    def encode_fields(value: Any) -> dict[str, Any]:
        plain = {}
        for name, default, encode_field in parts:
            item = getattr(value, name)
            if item is not default and item != default:
                plain[name] = item if encode_field is None else encode_field(item)
        return plain

    return encode_fields


def _dataclass_decoder(kind: Any) -> Decoder:
    hints = _hints(kind)
    decoders = {field.name: decoder_of(hints[field.name]) for field in dataclasses.fields(kind)}
    exact = {name: hints[name] for name in decoders if hints[name] in _EXACT}

    def decode_fields(plain: Any) -> Any:
        fields = {}
        for name, item in plain.items():
            fields[name] = item if exact.get(name) is type(item) else decoders[name](item)
        return kind(**fields)

    return decode_fields


def _sharing(decode_one: Decoder) -> Decoder:
    """A decoder that gives one value for all that is written alike, to the types of numbers and the order of keys."""
    known: dict[bytes, Any] = {}

    def decode_shared(plain: Any) -> Any:
        written = marshal.dumps(
            plain, 2
        )  # the quickest exact spelling of a tree; without references, so that like is alike
        found = known.get(written)
        if found is None:
            found = decode_one(plain)
            if len(known) >= MOST_SHARED:
                known.clear()
            known[written] = found
        return found

    return decode_shared


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of the fields of `kind`; a JSON value counts as Any, since it is stored as it is."""
    return get_type_hints(kind, localns={"Json": Any})


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return dataclasses.MISSING


def _sequence_encoder(hint: Any) -> Encoder:
    each = encoder_of(hint)
    return list if each is _same else lambda value: [each(item) for item in value]


def _mapping_encoder(hint: Any) -> Encoder:
    each = encoder_of(hint)
    return dict if each is _same else lambda value: {key: each(item) for key, item in value.items()}


def _optional_encoder(hint: Any) -> Encoder:
    inner = [part for part in get_args(hint) if part is not type(None)]
    if len(inner) != 1:
        return _same
    each = encoder_of(inner[0])
    return _same if each is _same else lambda value: None if value is None else each(value)


def _optional_decoder(hint: Any) -> Decoder:
    inner = [part for part in get_args(hint) if part is not type(None)]
    if len(inner) != 1:
        return _same
    each = decoder_of(inner[0])
    return lambda value: None if value is None else each(value)


def _literal_decoder(allowed: tuple[Any, ...]) -> Decoder:
    def decode_literal(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {allowed}")
        return value

    return decode_literal


def _scalar_decoder(kind: type[Any]) -> Decoder:
    if issubclass(kind, Enum):
        return kind
    if kind is float:
        return lambda value: float(_checked((int, float), value))
    if kind in (str, int, bool):
        return lambda value: _checked(kind, value)
    return _same


def _checked(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"expected {kind}, found {type(value).__name__}")
    return value


def _same(value: Any) -> Any:
    return value


_dump: Final = json_writer()


def _is_unmarked(body: str) -> bool:
    """Is neither mark in a body? One character is found to be missing ten times as quickly as a word."""
    return "$" not in body or (_MARK not in body and _ESCAPE not in body)


def _with_payloads_apart(plain: Any, payloads: dict[str, bytes]) -> Any:
    if isinstance(plain, str):
        return _apart(plain, payloads) if len(plain) > _SURELY_SHORT else plain
    if isinstance(plain, list):
        return [_with_payloads_apart(item, payloads) for item in plain]
    if isinstance(plain, dict):
        inner = {key: _with_payloads_apart(item, payloads) for key, item in plain.items()}
        return {_ESCAPE: inner} if _MARK in plain or _ESCAPE in plain else inner
    return plain


def _apart(text: str, payloads: dict[str, bytes]) -> Any:
    content = text.encode("utf-8")
    if len(content) <= PAYLOAD_BYTES:
        return text
    digest = hashlib.sha256(content).hexdigest()
    payloads[digest] = content
    return {_MARK: digest}


def _loaded(body: str, payloads: Mapping[str, bytes]) -> Any:
    plain = json.loads(body)
    return plain if _is_unmarked(body) else _put_back(plain, payloads)


def _put_back(plain: Any, payloads: Mapping[str, bytes]) -> Any:
    if isinstance(plain, list):
        return [_put_back(item, payloads) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if _ESCAPE in plain:
        return {key: _put_back(item, payloads) for key, item in plain[_ESCAPE].items()}
    if _MARK in plain:
        return _payload(plain[_MARK], payloads)
    return {key: _put_back(item, payloads) for key, item in plain.items()}


def _payload(digest: str, payloads: Mapping[str, bytes]) -> str:
    if digest not in payloads:
        raise ValueError(f"the payload {digest} is missing from the store")
    return payloads[digest].decode("utf-8")


def _collect(plain: Any, found: list[str]) -> None:
    if isinstance(plain, list):
        for item in plain:
            _collect(item, found)
    elif isinstance(plain, dict):
        inner = plain.get(_ESCAPE, plain)
        if inner is plain and _MARK in plain:
            found.append(plain[_MARK])
            return
        for item in inner.values():
            _collect(item, found)
