"""Frozen dataclasses that are made quickly are in nothing else different from those that are not."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from outlast.domain.quick import is_quick, maker_of, quick


@dataclass(frozen=True, slots=True)
class Base:
    """A base without fields, as all events have one."""


@quick
@dataclass(frozen=True, slots=True)
class Quick(Base):
    """What is tried here."""

    name: str
    size_bytes: int = 3
    parts: dict[str, int] = field(default_factory=dict)
    note: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Slow(Base):
    """The same without."""

    name: str
    size_bytes: int = 3
    parts: dict[str, int] = field(default_factory=dict)
    note: str = field(default="", kw_only=True)


def test_it_is_made_of_the_same_arguments_and_equals_what_has_the_same_fields() -> None:
    made = Quick("a", parts={"b": 1}, note="c")
    assert [getattr(made, part.name) for part in fields(made)] == ["a", 3, {"b": 1}, "c"]
    assert made == Quick("a", 3, {"b": 1}, note="c") != Quick("a")
    assert repr(made) == "Quick(name='a', size_bytes=3, parts={'b': 1}, note='c')"
    assert type(made) is Quick
    assert list(inspect.signature(Quick).parameters) == list(inspect.signature(Slow).parameters)


def test_what_a_factory_makes_is_shared_with_no_other() -> None:
    assert Quick("a").parts is not Quick("a").parts


def test_no_field_of_it_can_be_set_or_deleted_and_none_added() -> None:
    made = Quick("a")
    for change in (lambda: setattr(made, "name", "b"), lambda: delattr(made, "name")):
        with pytest.raises(FrozenInstanceError):
            change()
    with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
        made.other = 1  # type: ignore[attr-defined]
    assert made.name == "a"


@pytest.mark.parametrize("arguments", [(), ("a", 1, {}, "positional note"), ("a", 1, {}, 4, 5)])
def test_wrong_arguments_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError):
        Quick(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Quick("a", unknown=1)  # type: ignore[call-arg]


def test_it_is_replaced_copied_and_pickled_like_any_other() -> None:
    made = Quick("a", parts={"b": 1}, note="c")
    assert replace(made, size_bytes=4) == Quick("a", 4, {"b": 1}, note="c")
    assert copy.copy(made) == made == copy.deepcopy(made)
    assert pickle.loads(pickle.dumps(made)) == made


def test_its_maker_makes_what_the_class_makes_and_refuses_what_it_refuses() -> None:
    make = maker_of(Quick)
    made = make(name="a", parts={"b": 1}, note="c")
    assert made == Quick("a", parts={"b": 1}, note="c") == make("a", 3, {"b": 1}, note="c")
    assert type(made) is Quick
    assert make("a").parts is not make("a").parts
    with pytest.raises(FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]
    for wrong in ({"unknown": 1}, {"name": "b"}):
        with pytest.raises(TypeError):
            make("a", **wrong)  # type: ignore[arg-type]


class Plain(Quick):
    """Derived, and nothing added."""


class WithWords(Plain):
    """Derived, and made in a way of its own."""

    def __init__(self, words: str) -> None:
        for name, value in (("name", words), ("size_bytes", len(words)), ("parts", {}), ("note", "")):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class WithMore(Quick):
    """Derived, and with a field more."""

    more: int = 0


def test_what_is_derived_from_it_is_made_in_the_usual_way() -> None:
    plain, words, more = Plain("a", note="c"), WithWords("abc"), WithMore("a", 4, {"b": 1}, 5, note="c")
    assert (plain.name, plain.size_bytes, plain.note, words.size_bytes, more.more) == ("a", 3, "c", 3, 5)
    for made in (plain, words, more):
        assert isinstance(made, Quick)
        assert pickle.loads(pickle.dumps(made)) == made == copy.copy(made) == copy.deepcopy(made)
        assert type(copy.copy(made)) is type(made)
        with pytest.raises(FrozenInstanceError):
            made.name = "b"  # type: ignore[misc]
    assert replace(plain, name="b").name == "b"
    assert replace(more, more=6) == WithMore("a", 4, {"b": 1}, 6, note="c")
    with pytest.raises(TypeError):
        Plain()  # type: ignore[call-arg]


def test_quick_classes_are_told_from_others() -> None:
    @dataclass(frozen=True, slots=True)
    class Derived(Quick):
        more: int = 0

    assert is_quick(Quick)
    assert not is_quick(Base)
    assert not is_quick(Derived)


def test_what_does_more_when_it_is_made_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        name: str

        def __post_init__(self) -> None:
            """Look at the name."""

    with pytest.raises(TypeError, match="Checked does more"):
        quick(Checked)
