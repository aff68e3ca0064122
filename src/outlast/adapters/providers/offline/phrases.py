"""What the model says in its own words, by language. Everything else it says is quoted."""

from __future__ import annotations

from typing import Final

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """The sentences of one language, with their gaps in braces."""

    joined: str
    last_joined: str
    quoted: str
    titled: str
    aspect: str
    side: str
    regarding: str
    difference: str
    overview: str
    figures: str
    limits: str
    reasons: str
    examples: str
    history: str
    feedback: str
    gaps: str
    done_when: str
    done_when_gaps: str
    disagree: str
    not_found: str
    no_gaps: str
    accept_no_gaps: str
    revise: str
    revise_search: str
    accept: str
    accept_cut: str
    accept_empty: str
    report_ok: str
    report_empty: str
    report_bare: str
    summary: str
    summary_empty: str
    limit_model: str
    limit_gap: str
    limit_disagree: str
    limit_remark: str
    limit_one_source: str
    chat_found: str
    chat_nothing: str
    chat_about: str
    notify: str


ENGLISH: Final = Phrases(
    joined=", ",
    last_joined=" and ",
    quoted="“{}”",
    titled=": {aspects}",
    aspect="What do the sources say about the {aspect} of {topic}?",
    side="What do the sources say about {side}{regarding}?",
    regarding=" with regard to {criteria}",
    difference="Which differences between {sides} do the sources name{regarding}?",
    overview="What do the sources say about {topic}?",
    figures="Which facts and figures do the sources give on {topic}?",
    limits="Which limits, risks or conditions do the sources name for {topic}?",
    reasons="Why, and by what means: which reasons and mechanisms do the sources give for {topic}?",
    examples="Which examples and cases do the sources give of {topic}?",
    history="How did {topic} come about, and what has changed since?",
    feedback="What do the sources say about {topic} in view of this: {remark}?",
    gaps="Where do the sources on {topic} contradict one another, and what stays uncertain?",
    done_when="At least one statement, quoted from a source, answers this; or it is said that nothing was found.",
    done_when_gaps="Contradictions and gaps are named with their sources; or it is said that none were found.",
    disagree="Sources disagree: one says “{one}”, another says “{other}”.",
    not_found="Not found in the sources read: an answer to “{question}”.",
    no_gaps="No contradiction between the sources read was found.",
    accept_no_gaps="No contradiction was found, and that is said.",
    revise="No statement with a source answers: {question}",
    revise_search="Search with other words ({words}) and read results that are still unread.",
    accept="{count} of {total} statements have a source.",
    accept_cut="There are statements with sources; they were shown in part.",
    accept_empty="Nothing was found after a second search; the gap is named instead.",
    report_ok="The report has statements with sources.",
    report_empty="The report says that nothing was found.",
    report_bare="The report has no statement and does not say that nothing was found.",
    summary="Statements found on {question}: {claims}; sources they come from: {sources}. The strongest: {strongest}",
    summary_empty="Nothing was found in the sources read that answers {question}.",
    limit_model="Made by an offline extractive model: sentences are chosen and quoted by their words, not understood or "
    "reasoned about; translations and conclusions that no source states are missing.",
    limit_gap="Open question: {question}",
    limit_disagree="Not decided which is right. {claim}",
    limit_remark="Remark of the review: {remark}",
    limit_one_source="Everything rests on a single source.",
    chat_found="This is what the sources say, word for word:",
    chat_nothing="Nothing was found that answers this.",
    chat_about="I am an offline extractive model: I choose and quote sentences, I do not reason. I can search and quote "
    "what is there, sum up a text, and write a report with sources (`outlast run`). To talk freely, name another "
    "provider under `llm.provider`.",
    notify="{name}: {status}.",
)

CHINESE: Final = Phrases(
    joined="、",
    last_joined="和",
    quoted="“{}”",
    titled="：{aspects}",
    aspect="关于{topic}的{aspect}，资料说明了什么？",
    side="关于{side}{regarding}，资料说明了什么？",
    regarding="的{criteria}",
    difference="资料指出{sides}{regarding}有哪些差异？",
    overview="关于{topic}，资料说明了什么？",
    figures="关于{topic}，资料给出了哪些事实和数字？",
    limits="关于{topic}，资料提到了哪些限制、风险或条件？",
    reasons="关于{topic}，资料给出了哪些原因和机制？",
    examples="关于{topic}，资料给出了哪些例子和案例？",
    history="{topic}是怎样形成的，后来有什么变化？",
    feedback="考虑到“{remark}”，关于{topic}，资料说明了什么？",
    gaps="关于{topic}，资料之间有哪些矛盾，还有什么不确定？",
    done_when="至少有一条引自来源的陈述回答了这个问题；否则说明没有找到。",
    done_when_gaps="指出矛盾与缺口及其来源；否则说明没有发现。",
    disagree="来源之间不一致：一处说“{one}”，另一处说“{other}”。",
    not_found="在读过的资料中没有找到对“{question}”的回答。",
    no_gaps="在读过的资料之间没有发现矛盾。",
    accept_no_gaps="没有发现矛盾，已经说明。",
    revise="没有带来源的陈述回答：{question}",
    revise_search="请换用其他词语（{words}）搜索，并阅读尚未读过的结果。",
    accept="{total}条陈述中有{count}条带有来源。",
    accept_cut="有带来源的陈述；只看到其中一部分。",
    accept_empty="再次搜索后仍没有找到，已改为说明缺口。",
    report_ok="报告含有带来源的陈述。",
    report_empty="报告说明了没有找到内容。",
    report_bare="报告既没有陈述，也没有说明没有找到内容。",
    summary="关于{question}，从{sources}个来源中找到{claims}条陈述。最有力的是：{strongest}",
    summary_empty="在读过的资料中没有找到能回答{question}的内容。",
    limit_model="由离线摘录模型生成：按词语挑选并逐字引用句子，不作理解或推理；不含翻译，也不含来源没有说出的结论。",
    limit_gap="未决问题：{question}",
    limit_disagree="未判断何者正确。{claim}",
    limit_remark="评审意见：{remark}",
    limit_one_source="全部内容只依据一个来源。",
    chat_found="资料原文如下：",
    chat_nothing="没有找到能回答这个问题的内容。",
    chat_about="我是离线摘录模型：只挑选并引用句子，不作推理。我可以搜索并引用已有资料、概括一段文字、撰写带来源的报告"
    "（`outlast run`）。如需自由对话，请在 `llm.provider` 中指定其他模型。",
    notify="{name}：{status}。",
)

_BY_LANGUAGE: Final = {"zh": CHINESE}


def phrases_in(language: str) -> Phrases:
    """The phrases of a language; English where it has none."""
    return _BY_LANGUAGE.get(language, ENGLISH)


def joined(phrases: Phrases, items: list[str]) -> str:
    """`items` as a list in a sentence."""
    if len(items) < 2:
        return "".join(items)
    return phrases.joined.join(items[:-1]) + phrases.last_joined + items[-1]
