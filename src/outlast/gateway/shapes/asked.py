"""What may be asked: the bodies of requests."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from outlast.gateway.shapes.shape import Shape
from outlast.service.start import Strategy


class NewThread(Shape):
    """A conversation to be opened; without a title it is named after its first words."""

    title: str = Field("", max_length=200)


class NewRun(Shape):
    """A run to be started: the name of a task, what it is to do, and settings over the configuration, nested or by dotted paths.

    `multitask_strategy` says what becomes of it when the thread has a run that has not ended: it is refused, waits its turn, or
    waits while the active run is cancelled.
    """

    task: str = Field(min_length=1, max_length=200)
    input: str
    config: dict[str, JsonValue] = Field(default_factory=dict)
    multitask_strategy: Strategy = "reject"


class NewRunAnywhere(NewRun):
    """A run to be started in a thread, or in a new one.

    `continues` names a run that has ended: start from what it found. Its task and input are then taken where none are given.
    """

    task: str = Field("", max_length=200)
    input: str = ""
    thread_id: str | None = None
    continues: str | None = None

    @model_validator(mode="after")
    def _says_what_to_do(self) -> Self:
        if self.continues is None and not (self.task and "input" in self.model_fields_set):
            raise ValueError("a run needs a task and an input, or a run that it continues")
        return self


class Reason(Shape):
    """Why, for the record."""

    reason: str = ""


class Words(Shape):
    """Something to say."""

    text: str


class Saying(Words):
    """Something to say to a run. With `pin` every conversation of the run is shown it, also those that begin later."""

    pin: bool = False


class Answer(Words):
    """An answer to the open question of a run, or to the one named."""

    question: str | None = None


class Limits(Shape):
    """Limits of a run to be changed: `{"max_steps": 60}`; null lifts `max_tokens_total` and `max_cost_usd`."""

    limits: dict[str, JsonValue] = Field(min_length=1)


class Fork(Shape):
    """The last event that is copied, and settings over what the run is pinned to."""

    at: int = Field(ge=1, le=2**53)
    config: dict[str, JsonValue] = Field(default_factory=dict)


class Decision(Shape):
    """What a person decided about a ticket: `edit` are other arguments for the call, a comment on a rejection reaches the model.

    `run_id` names the run where tickets of several runs are called alike.
    """

    decision: Literal["approve", "reject"]
    edit: dict[str, JsonValue] | None = None
    comment: str = ""
    run_id: str | None = None


class SignIn(Shape):
    """What is shown for a session: a token, or the code of a link to sign in."""

    token: str = Field("", max_length=200)
    code: str = Field("", max_length=200)


class TaskAnswer(Shape):
    """An answer to what a task asks: fields of its form, or words where it has one. `key` names one question of several."""

    key: str | None = None
    action: Literal["accept", "decline"] = "accept"
    content: dict[str, JsonValue] = Field(default_factory=dict)
    text: str | None = None
