"""The words the engine itself puts into a report, in the language of the question."""

from __future__ import annotations

from typing import Final

from outlast.domain.run import RunState

WORDS: Final[dict[str, dict[str, str]]] = {
    "en": {
        "title": "Report",
        "known": "Known from the earlier run {run}",
        "changed": "Changed since the earlier run, or not to be read any more, so what rested on it was not taken over: {text}",
        "nothing": "Nothing was found that answers the question.",
        "open": "Open question: {text}",
        "dropped": "Left out, since no source that was read supports it: {text}",
        "given_up": "Subtask {id} was given up: {text}",
        "not_handed_in": "The writer handed in no report; this one was made from the conclusions.",
        "limit": "The run stopped at its limit {limit}{why}. Go on with more: {command}",
    },
    "zh": {
        "title": "报告",
        "known": "先前运行 {run} 的已知结论",
        "changed": "自先前的运行以来已改变或无法再读取，依据它的结论未予沿用：{text}",
        "nothing": "没有找到能回答该问题的内容。",
        "open": "未决问题：{text}",
        "dropped": "已略去，因为读过的来源都不支持：{text}",
        "given_up": "子任务 {id} 已放弃：{text}",
        "not_handed_in": "撰写者没有提交报告；本报告由各项结论生成。",
        "limit": "运行在其限制 {limit} 处停止{why}。要继续并放宽限制：{command}",
    },
}


def language_of(text: str) -> str:
    """The language a report is labelled in: `zh` where a fifth of the letters are Chinese, else `en`."""
    letters = [letter for letter in text if letter.isalpha()]
    chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in letters)
    return "zh" if letters and chinese * 5 >= len(letters) else "en"


def words_for(state: RunState) -> dict[str, str]:
    """The engine's words in the language of a run's input."""
    return WORDS[language_of(state.input)]
