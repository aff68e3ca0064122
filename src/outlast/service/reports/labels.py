"""The words a rendered report adds to what it holds, by language."""

from __future__ import annotations

from typing import Final

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Labels:
    """One language's words, with their gaps in braces; `code` is its BCP 47 tag."""

    code: str
    question: str
    sources: str
    limits: str
    partial: str
    without_findings: str
    nothing: str
    no_source: str
    confidence: str
    step: str
    steps: str
    quoted: str
    quote: str
    read: str
    read_earlier: str
    found_by: str
    found_earlier: str
    new: str
    cited_in: str
    between: str


ENGLISH: Final = Labels(
    code="en",
    question="Question:",
    sources="Sources",
    limits="Limits of this report",
    partial="Partial result: the run ended before everything was done. What it found is below.",
    without_findings="Partial result: nothing was found that answers the question.",
    nothing="Nothing was found on this.",
    no_source="no source",
    confidence="confidence {percent}%",
    step="step {steps}",
    steps="steps {steps}",
    quoted="“{quote}”",
    quote="Quoted words",
    read="read {at} in step {step}",
    read_earlier="read {at} by an earlier run, unchanged since",
    found_by="found in step {step} by searching for {query}",
    found_earlier="found by searching for {query}",
    new="new",
    cited_in="cited in",
    between=", ",
)

CHINESE: Final = Labels(
    code="zh",
    question="问题：",
    sources="来源",
    limits="本报告的局限",
    partial="部分结果：运行在全部完成之前结束，以下是已经找到的内容。",
    without_findings="部分结果：没有找到能回答该问题的内容。",
    nothing="没有找到相关内容。",
    no_source="无来源",
    confidence="可信度 {percent}%",
    step="步骤 {steps}",
    steps="步骤 {steps}",
    quoted="“{quote}”",
    quote="引用原文",
    read="步骤 {step} 读取，{at}",
    read_earlier="由先前的运行读取，{at}，此后未变",
    found_by="步骤 {step} 搜索 {query} 时找到",
    found_earlier="搜索 {query} 时找到",
    new="新",
    cited_in="被引用于",
    between="，",
)

_BY_LANGUAGE: Final = {"en": ENGLISH, "zh": CHINESE}


def labels_in(language: str) -> Labels:
    """The labels for a language tag such as `zh-CN`; English where there are none."""
    return _BY_LANGUAGE.get(language.casefold().replace("_", "-").partition("-")[0], ENGLISH)
