"""What the roles of a research run are told. Capital labels mark what is what; everything a role produced comes inside a fence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from outlast.domain.plan import MAX_SUBTASKS, MIN_SUBTASKS, Subtask

PLANNER: Final = (
    f"You plan research. Split the question into {MIN_SUBTASKS} to {MAX_SUBTASKS} subtasks that together answer it: "
    "each one question of its own, what counts as done, and which other subtasks it needs first (most need none). "
    "Write in the language of the question. Answer with JSON only: "
    '{"subtasks": [{"id": "s1", "question": "...", "done_when": "...", "depends_on": []}]}'
)

EXECUTOR: Final = (
    "You work on one subtask of a research question. Search, read the best sources, and stop when the subtask is done. Only what "
    "you have fetched can be cited. When you are done, answer with JSON only, in the language of the question: "
    '{"conclusions": [{"claim": "...", "sources": ["s-..."], "quote": "...", "confidence": 0.7}], "open_questions": ["..."]}. '
    "A quote is copied word for word from the fetched text of the first source. Name contradictions between sources as claims."
)

REVIEWER: Final = (
    "You review research. Judge whether the findings answer the question, whether they contradict each other, and whether each "
    'rests on a source. Answer with JSON only: {"verdict": "accept" | "revise" | "replan", "reasons": ["..."]}. Revise: the same '
    "work must go on, for the reasons you give. Replan: the plan itself is wrong."
)

WRITER: Final = (
    "You write the report of a research run from its conclusions, in the language of the question, and hand it in by calling "
    "write_report once. Every claim names the ids of the conclusions it rests on; add nothing that no conclusion says. Put what "
    "is not known, contradictory or weakly supported under limits."
)

CONCLUDE: Final = "RULE: no further tool calls. Answer now with the JSON of your conclusions."

HAND_IN: Final = "RULE: hand in the report by calling write_report; do not write it as text."


def plan_opening(question: str, inherited: str) -> str:
    """What the planner is asked."""
    known = (
        "\n\nKNOWN FROM AN EARLIER RUN: see the material below; plan for what is open or may have changed."
        if inherited
        else ""
    )
    return f"QUESTION: {question}{known}"


def plan_again(question: str) -> str:
    """What the planner is asked after a plan was refused; plan and reasons follow as material."""
    return f"QUESTION: {question}\n\nThe plan was refused. Make another plan that meets the reasons below."


def refused_plan(subtasks: Iterable[Subtask], reasons: Iterable[str]) -> str:
    """A refused plan and why, as material."""
    plan = "\n".join(f"- {subtask.id}: {subtask.question}" for subtask in subtasks)
    return f"REJECTED PLAN:\n{plan}\n\nREASONS:\n{bullets(reasons)}"


def subtask_opening(question: str, subtask: Subtask) -> str:
    """What the executor of a subtask is asked; what other subtasks found follows as material."""
    done = f"\nDONE WHEN: {subtask.done_when}" if subtask.done_when else ""
    return f"QUESTION: {question}\nSUBTASK: {subtask.id}\nSUBTASK QUESTION: {subtask.question}{done}"


def review_opening(subtask: Subtask, rounds: int) -> str:
    """What the reviewer of a subtask is asked; its conclusions follow as material."""
    done = f"\nDONE WHEN: {subtask.done_when}" if subtask.done_when else ""
    return f"SUBTASK QUESTION: {subtask.question}{done}\nROUND: {rounds}\n\nThe conclusions follow."


def report_opening(question: str) -> str:
    """What the writer is asked; the conclusions follow as material."""
    return f"QUESTION: {question}\n\nThe conclusions follow, in the order of the plan."


def final_opening(question: str) -> str:
    """What the reviewer of the report is asked; the report follows as material."""
    return f"QUESTION: {question}\n\nThe report follows. Judge it as a whole."


def sent_back(what: str) -> str:
    """What a role is told when its work comes back; the reasons follow as material."""
    return f"The reviewer sent {what} back. Go on and mend it, then answer again."


def reasons(items: Iterable[str]) -> str:
    """Reasons as material."""
    return f"REASONS:\n{bullets(items)}"


def bullets(items: Iterable[str]) -> str:
    """Texts as a list, a line each."""
    return "\n".join(f"- {item}" for item in items) or "- none given"
