"""A script: entries that say when they answer and with what.

- when: {purpose: execute, contains: "market size", turn: 0}
  call: [{tool: web_search, arguments: {query: "market size 2026"}}]
- when: {purpose: execute}
  say: {conclusions: []}          # a text, or a value that is said as JSON
  usage: {input_tokens: 100, output_tokens: 20}
- fail: {fault: rate_limit, retry_after_seconds: 1}
  repeat: true                    # without it an entry answers once
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    NonNegativeFloat,
    NonNegativeInt,
    ValidationError,
    model_validator,
)

from outlast.domain.door import canonical_json, stored_form
from outlast.domain.errors import CallerMistake, ModelFault, ModelMistake
from outlast.ports.provider import Finish


def _several(value: object) -> object:
    """One thing stands for a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _said(value: object) -> str:
    """What is said: a text as it is, any other value as JSON."""
    try:
        stored = stored_form(value)
    except ModelMistake as mistake:
        raise ValueError(mistake.detail) from mistake
    return stored if isinstance(stored, str) else canonical_json(stored)


def _fault(value: object) -> object:
    return {"fault": value} if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_several)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class When(_Part):
    """Which requests an entry answers; a condition not given holds for all.

    Several `purpose`s or `role`s are alternatives. Every text in `contains` must occur in some message of the
    request. `turn` is the number of assistant messages already in it, from 0.
    """

    purpose: Texts = ()
    role: Texts = ()
    contains: Texts = ()
    turn: NonNegativeInt | None = None


class Call(_Part):
    """A tool call the entry asks for. `arguments` given as a text are what the model sent, broken or not."""

    tool: str
    arguments: Any = None
    id: str = ""


class Failure(_Part):
    """The model call fails with `fault` instead of an answer."""

    fault: ModelFault
    detail: str = "The script says that this call fails."
    retry_after_seconds: NonNegativeFloat | None = None


class Spending(_Part):
    """What the answer uses up; without it the tokens are estimated."""

    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    cost_usd: NonNegativeFloat | None = None


class Rule(_Part):
    """One entry of a script: when it answers, and what it says, calls or how it fails.

    Unless `repeat` is set it answers once in a conversation. `delay_seconds` is the pause before the answer.
    """

    when: When = When()
    say: Annotated[str, BeforeValidator(_said)] = ""
    call: Annotated[tuple[Call, ...], BeforeValidator(_several)] = ()
    fail: Annotated[Failure | None, BeforeValidator(_fault)] = None
    reasoning: str | None = None
    usage: Spending | None = None
    finish: Finish | None = None
    repeat: bool = False
    delay_seconds: NonNegativeFloat = 0.0

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        answers = bool({"say", "call"} & self.model_fields_set)
        if answers == (self.fail is not None):
            raise ValueError("an entry either fails, or says or calls something")
        return self


def read_script(document: object, source: str = "the script") -> tuple[Rule, ...]:
    """The entries of a script given as plain data (what a YAML or JSON file holds), or as Rules.

    Raises CallerMistake (`invalid_script`) naming `source`, the entry (from 1), the key and what is wrong
    with it.
    """
    if not isinstance(document, Sequence) or isinstance(document, str | bytes) or not document:
        raise CallerMistake(
            "invalid_script",
            f"{source} is not a list of entries.",
            "Write a list, each entry with say, call or fail.",
        )
    return tuple(_rule(item, f"{source}, entry {number}") for number, item in enumerate(document, start=1))


def load_script(path: Path) -> tuple[Rule, ...]:
    """The entries of a script file in YAML (of which JSON is a part).

    Raises CallerMistake (`invalid_script`) when the file cannot be read, is not YAML or is no script.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CallerMistake(
            "invalid_script",
            f"The script {path} cannot be read: {error.strerror}.",
            "Correct `llm.script`, or put the file there.",
        ) from error
    except (UnicodeDecodeError, YAMLError) as error:
        raise CallerMistake(
            "invalid_script", f"{path} cannot be read as YAML: {error}", "Correct the file or `llm.script`."
        ) from error
    return read_script(document, str(path))


def _rule(item: object, place: str) -> Rule:
    try:
        return Rule.model_validate(item)
    except ValidationError as error:
        problems = "; ".join(
            _problem(detail["loc"], detail["msg"]) for detail in error.errors(include_url=False)
        )
        raise CallerMistake("invalid_script", f"{place}: {problems}.", "Correct the entry.") from error


def _problem(path: tuple[int | str, ...], message: str) -> str:
    return f"{'.'.join(map(str, path))}: {message}" if path else message.removeprefix("Value error, ")
