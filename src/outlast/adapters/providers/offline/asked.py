"""What a request asks for: the question, the sub-question, the rules and remarks, taken from what may instruct."""

from __future__ import annotations

import re

from outlast.adapters.providers.offline.language import language_of
from outlast.adapters.providers.offline.phrases import Phrases, phrases_in
from outlast.adapters.providers.offline.reading import Reading, read_message
from outlast.domain.dataclass import dataclass
from outlast.ports.provider import ModelRequest

_NO_MORE_CALLS = re.compile(
    r"\bno (?:further|more|other) (?:tool )?calls?\b|\bdo not call\b|\bwithout (?:further )?tool",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked and by whose words.

    `question` is the person's, `sub_question` the subtask's (the same where there is none), `said` the newest message.
    """

    question: str
    sub_question: str
    said: Reading
    remarks: str
    rules: str
    language: str

    @property
    def phrases(self) -> Phrases:
        """The model's own words in the language of the question."""
        return phrases_in(self.language)

    @property
    def may_call_tools(self) -> bool:
        """Has no rule of the engine ended the calls?"""
        return _NO_MORE_CALLS.search(self.rules) is None

    def number(self, label: str, otherwise: int) -> int:
        """The number after `label` in what the newest message instructs, on a line of its own or inside one."""
        found = re.search(rf"\b{label}: *(\d{{1,6}})\b", "\n".join(self.said.trusted))
        return int(found.group(1)) if found is not None else otherwise


def asked_by(request: ModelRequest) -> Asked:
    """What `request` asks for. Fenced text is never consulted."""
    readings = [read_message(message.text) for message in request.messages if message.speaker == "user"]
    newest = readings[-1] if readings else Reading()
    is_labelled = any(reading.has("QUESTION") for reading in readings)
    sub_question = _last_value(readings, "SUBTASK QUESTION")
    question = _last_value(readings, "QUESTION") if is_labelled else sub_question or "\n".join(newest.trusted)
    sub_question = sub_question or question
    question, sub_question = _one_line(question), _one_line(sub_question)
    return Asked(
        question=question,
        sub_question=sub_question,
        said=newest,
        remarks=newest.material("REASONS"),
        rules="\n".join(_rules_of(request)),
        language=language_of(question or sub_question),
    )


def _last_value(readings: list[Reading], label: str) -> str:
    return next((value for reading in reversed(readings) if (value := reading.value(label))), "")


def _rules_of(request: ModelRequest) -> list[str]:
    """Rules stand in what the engine says; the newest user message and everything after it."""
    start = max((at for at, message in enumerate(request.messages) if message.speaker == "user"), default=0)
    spoken = [message for message in request.messages[start:] if message.speaker in ("user", "system")]
    return [
        block.text
        for message in spoken
        for block in read_message(message.text).blocks
        if block.label == "RULE"
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())
