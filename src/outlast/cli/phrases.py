"""What happened, in a few words: the human form of a trace line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from outlast.cli.printing import one_line

Line = Mapping[str, Any]
"""A trace line."""


class _Given(dict[str, Any]):
    """The fields of an event; those at their defaults are left out of a trace line."""

    def __missing__(self, name: str) -> str:
        return ""


def phrase(line: Line) -> str:
    """The trace line in words, on one line, not cut."""
    special, template = _SPECIAL.get(line["kind"]), _PLAIN.get(line["kind"])
    data: dict[str, Any] = line["data"]
    if special is not None:
        return one_line(special(line))
    if template is not None:
        return one_line(template.format_map(_Given(data))).rstrip(": ")
    return one_line(", ".join(f"{name}={_brief(value)}" for name, value in data.items()))


def call_of(tool: str, arguments: Mapping[str, Any] | None) -> str:
    """A tool call as one reads it: its name and its first text, or else its first arguments by name."""
    given = arguments or {}
    texts = [json.dumps(value, ensure_ascii=False) for value in given.values() if isinstance(value, str)]
    named = [f"{name}={_brief(value)}" for name, value in given.items()]
    return " ".join([tool, *(texts[:1] or named[:2])])


def counted(number: int, what: str) -> str:
    """`1 step`, `3 steps`, `2 entries`."""
    many = f"{what.removesuffix('y')}ies" if what.endswith("ry") else f"{what}s"
    return f"{number:,} {what if number == 1 else many}"


def dollars(usd: float) -> str:
    """`$0.0123`."""
    return f"${usd:.4f}"


def _brief(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _started(line: Line) -> str:
    return f"{line['data']['definition']['name']}: {line['data']['input']}"


def _entered(line: Line) -> str:
    data = line["data"]
    told = f"{data['source']} -> {data['target']}"
    if data.get("outcome"):
        told += f" ({data['outcome']})"
    if data.get("code"):
        return f"{told}: {data['code']}: {data.get('detail') or ''}"
    return f"{told}: {data['reason']}" if data.get("reason") else told


def _asked(line: Line) -> str:
    data = line["data"]
    model = data.get("model") or "the model"
    if data.get("summarises_before") is not None:
        return f"asks {model} for notes of the earlier steps"
    return f"asks {model} to {data['purpose'].replace('_', ' ')}"


def _answered(line: Line) -> str:
    data = line["data"]
    if data.get("problem"):
        return f"an answer that cannot be used: {data['problem']}"
    calls = [call["name"] for call in data.get("tool_calls", ())]
    if calls:
        named = [
            f"{name} x{calls.count(name)}" if calls.count(name) > 1 else name for name in dict.fromkeys(calls)
        ]
        return f"wants {', '.join(named)}"
    return f"says {data.get('text', '')}"


def _called(line: Line) -> str:
    again = f" (try {line['data']['attempt']})" if line["data"].get("attempt", 1) > 1 else ""
    return (
        call_of(line["tool"] or line["data"]["call"], line["data"].get("edited") or line["arguments"]) + again
    )


def _settled(line: Line) -> str:
    tool, error = line["tool"] or line["data"]["call"], line["error"]
    if error:
        return f"{tool} failed: {error['code']}: {error.get('detail', '')}"
    return f"{tool} gave {line['result'] or 'nothing'}"


def _planned(line: Line) -> str:
    subtasks = line["data"]["subtasks"]
    return f"plan {line['data']['revision']}: {'; '.join(one['question'] for one in subtasks)}"


def _concluded(line: Line) -> str:
    data = line["data"]
    open_questions = data.get("open_questions") or ()
    left = f", {counted(len(open_questions), 'open question')}" if open_questions else ""
    return f"{data['subtask']} concluded: {counted(len(data['conclusions']), 'finding')}{left}"


def _reviewed(line: Line) -> str:
    data = line["data"]
    verdict = {"accept": "accepted", "revise": "sent back", "replan": "needs another plan"}[data["verdict"]]
    return f"{data['subtask']} {verdict}{_because(data.get('reasons'))}"


def _refused(line: Line) -> str:
    data = line["data"]
    return f"plan refused by {data['by']}{_because(data.get('reasons'))}"


def _written(line: Line) -> str:
    report = line["data"]["report"]
    claims = sum(len(section["claims"]) for section in report["sections"])
    sources = counted(len(report["sources"]), "source")
    return f"report: {report['title']} ({counted(claims, 'claim')}, {sources})"


def _ticket(line: Line) -> str:
    data = line["data"]
    what = call_of(line["tool"], line["arguments"]) if line["tool"] else data["subject"]
    return f"ticket {data['ticket']} asks for approval of {what}"


def _changed(line: Line) -> str:
    changes = ", ".join(f"{name}={_brief(value)}" for name, value in line["data"]["changes"].items())
    return f"{line['data']['by']} set {changes}"


def _checked(line: Line) -> str:
    data = line["data"]
    verdict = f"refuses: {data['veto']}" if data.get("veto") else "agrees"
    return f"hook {data['hook']} {verdict}"


def _recalled(line: Line) -> str:
    data = line["data"]
    told = [one.get("title") or one["text"] for one in data.get("entries", ())]
    about = f"memory on {data['query']}"
    return f"{about}: {'; '.join(told)}" if told else f"{about}: nothing that is not known here already"


def _said(line: Line) -> str:
    data = line["data"]
    return f"{data['by']} {'pins' if data.get('pinned') else 'says'}: {data['text']}"


def _summarised(line: Line) -> str:
    data = line["data"]
    by = {"model": "by the model", "engine": "without the model"}[data["by"]]
    why = f" ({data['problem']})" if data.get("problem") else ""
    saved = f"{data['replaced_tokens']} tokens became {data['tokens']}"
    return f"earlier steps of {data['branch']} summarised {by}{why}: {saved}"


def _tools(line: Line) -> str:
    return f"tools changed: {', '.join(tool['name'] for tool in line['data']['tools'])}"


def _compared(line: Line) -> str:
    data = line["data"]
    what = f"shadow of {data['call']} ({data['selector']})"
    why = data.get("detail") or data.get("code") or ""
    match data["verdict"]:
        case "agreed":
            return f"{what} agrees"
        case "differed":
            return f"{what} differs: {data.get('overlap', 0):.0%} in common"
        case "failed":
            return f"{what} failed: {data.get('code')}: {why}"
        case "suppressed":
            return f"{what} not carried out: {why}"
        case _:
            return f"{what} not compared: {why}"


def _because(reasons: Any) -> str:
    return f": {'; '.join(reasons)}" if reasons else ""


_SPECIAL: Final[dict[str, Callable[[Line], str]]] = {
    "RunStarted": _started,
    "StateEntered": _entered,
    "ModelRequested": _asked,
    "ModelAnswered": _answered,
    "ToolRequested": _called,
    "ToolAnswered": _settled,
    "PlanMade": _planned,
    "PlanRefused": _refused,
    "SubtaskConcluded": _concluded,
    "SubtaskReviewed": _reviewed,
    "ReportWritten": _written,
    "ApprovalAsked": _ticket,
    "LimitsChanged": _changed,
    "HookRan": _checked,
    "ToolsChanged": _tools,
    "MemoryRecalled": _recalled,
    "ContextSummarised": _summarised,
    "Said": _said,
    "ShadowCompared": _compared,
}

_PLAIN: Final[dict[str, str]] = {
    "RunClaimed": "{worker} takes the run up (claim {generation})",
    "TurnTaken": "begins, now that it is the next of its thread",
    "RunReleased": "given back: {reason}",
    "RunForked": "forked from {origin[run_id]} at {origin[at]}",
    "LimitReached": "limit {limit} reached: {used} of {bound}",
    "FoldDiverged": "the fold differs from what was recorded at {position}",
    "BranchOpened": "conversation {branch} opened",
    "Told": "{sender} tells {branch}: {body}",
    "ContextFolded": "context of {branch} shortened by {saved_tokens} tokens",
    "RecallRequested": "asks memory for {query}",
    "RecallFailed": "memory could not be asked: {code}: {detail}",
    "ContextCrowded": "context of {branch} is too small: what must stay takes {fixed_tokens} of {max_tokens} tokens",
    "ModelFailed": "model call failed: {fault}: {detail}",
    "ToolUnsettled": "outcome unknown: {reason}",
    "LoopNoticed": "{branch} goes round in circles ({action}): {detail}",
    "HookRequested": "hook {hook} at {subject}",
    "SubtaskStarted": "{subtask} begins",
    "SubtaskDropped": "{subtask} given up: {reason}",
    "ValueSet": "{name} = {value}",
    "TicketExpired": "ticket {ticket} expired",
    "TicketVoided": "ticket {ticket} is void: {reason}",
    "QuestionAsked": "asks: {text}",
    "PauseRequested": "{by} asks to pause",
    "ResumeRequested": "{by} asks to go on",
    "CancelRequested": "{by} cancels: {reason}",
    "Said": "{by} says: {text}",
    "EndAwaited": "{item} waits for this run to end",
    "TaskReported": "background task {name} is {status}",
    "TasksShown": "is shown the background tasks: {text}",
    "MessageSent": "tells {to}: {text}",
    "MessageReceived": "{sender} says: {text}",
    "Approved": "{by} approves {ticket}",
    "Rejected": "{by} rejects {ticket}: {comment}",
    "Answered": "{by} answers: {text}",
}

KNOWN_KINDS: Final = frozenset({*_SPECIAL, *_PLAIN})
"""The kinds of events that are told in words of their own."""
