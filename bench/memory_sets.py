"""Sets of memories and questions with the evidence that answers each: two that people wrote, two that are made here.

The written ones come in a wheel: 503 questions and answers about building in Sweden, in English and in Swedish
(zaragoza-construction-faq, CC BY 4.0, Zaragoza AB). Further ones are read from the folder that OUTLAST_BENCH_MEMORY_SETS names: files
NAME.json, `{"memories": {"id": "text"}, "questions": [["text", ["id", ...]], ...]}`.
"""

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER_VARIABLE = "OUTLAST_BENCH_MEMORY_SETS"


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Texts by id, and questions with the ids of what answers them."""

    name: str
    memories: dict[str, str]
    questions: list[tuple[str, set[str]]]


def all_sets() -> Iterator[LabelledSet]:
    """Every set there is, those of the folder last."""
    yield written("en", "answers, English")
    yield written("sv", "answers, Swedish")
    yield identifiers()
    yield chinese()
    folder = os.environ.get(FOLDER_VARIABLE)
    for file in sorted(Path(folder).glob("*.json")) if folder else ():
        found = json.loads(file.read_text("utf-8"))
        questions = [(text, set(evidence)) for text, evidence in found["questions"]]
        yield LabelledSet(file.stem, found["memories"], questions)


def written(language: str, name: str) -> LabelledSet:
    """Questions of customers and the answers to them: much is said in other words than it is asked."""
    import zaragoza_construction_faq as source

    rows = source.load(lang=language)
    return LabelledSet(name, {row["id"]: row["a"] for row in rows}, [(row["q"], {row["id"]}) for row in rows])


def identifiers() -> LabelledSet:
    """Notes of an operator that differ in names, codes and versions only, and questions that name a part of them."""
    chance = random.Random(11)
    parts = ["auth", "billing", "search", "mail", "report", "session", "cache", "index", "media", "queue"]
    deeds = ["retry", "flush", "rotate", "upload", "parse", "merge", "expire", "render", "commit", "verify"]
    memories: dict[str, str] = {}
    questions: list[tuple[str, set[str]]] = []
    for number, (part, deed) in enumerate((part, deed) for part in parts for deed in deeds):
        host = f"node-{chance.randint(100, 999)}"
        version = f"{chance.randint(1, 9)}.{chance.randint(0, 20)}.{chance.randint(0, 40)}"
        code = f"E{chance.randint(1000, 9999)}"
        name = f"{deed}{part.capitalize()}Worker"
        texts = [
            f"The service {part}-{deed} was rolled back to {version} on {host} after the incident.",
            f"Error {code} is raised by src/{part}/{deed}_task.py when the disk is full.",
            f"Set {part.upper()}_{deed.upper()}_TIMEOUT to {chance.randint(10, 900)} seconds in production.",
            f"{name} must not run twice at the same time; see ticket OPS-{number + 2000}.",
        ]
        asked = [
            f"to which version did we roll back {part}-{deed}?",
            f"what does {code} mean?",
            f"what is the {deed} timeout of {part} ({part}_{deed}_timeout)?",
            f"may the {deed} {part} worker run in parallel?",
        ]
        for kind, (text, question) in enumerate(zip(texts, asked, strict=True)):
            memories[f"{number}-{kind}"] = text
            questions.append((question, {f"{number}-{kind}"}))
    return LabelledSet("identifiers, made", memories, questions)


def chinese() -> LabelledSet:
    """Notes in Chinese with Latin names among them, asked for by words of two characters in another order."""
    chance = random.Random(12)
    systems = ["支付", "登录", "搜索", "推荐", "订单", "库存", "物流", "客服", "报表", "监控"]
    matters = ["部署", "备份", "扩容", "迁移", "审计", "压测", "回滚", "告警", "升级", "限流"]
    people = ["张伟", "王芳", "李娜", "刘洋", "陈静", "杨磊", "赵敏", "黄强", "周涛", "吴倩"]
    tools = ["nginx", "Redis", "Kafka", "PostgreSQL", "Grafana", "Kubernetes", "Jenkins", "Terraform"]
    days = ["周一", "周二", "周三", "周四", "周五", "周末"]
    memories: dict[str, str] = {}
    questions: list[tuple[str, set[str]]] = []
    for number, (system, matter) in enumerate((system, matter) for system in systems for matter in matters):
        person, tool, day = chance.choice(people), chance.choice(tools), chance.choice(days)
        memories[f"{number}-0"] = f"我们把{system}系统的{matter}窗口改到{day}晚上,由{person}负责。"
        memories[f"{number}-1"] = f"{system}服务做{matter}时要先停掉{tool},否则会丢数据。"
        questions.append((f"{matter}窗口什么时候?{system}系统", {f"{number}-0"}))
        questions.append((f"{matter}前要停{tool}吗?({system})", {f"{number}-1"}))
    return LabelledSet("Chinese, made", memories, questions)
