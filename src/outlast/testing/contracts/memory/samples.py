"""Entries, questions and vectors for the tests of the contract."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from outlast.domain.memory import Memory, MemoryKind, Origin, Scope, Vector
from outlast.ports.memory import MemoryHit, MemoryQuery

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANYWHERE = Scope("ada")
ADA = Scope("ada", "t-1", "r-1")
SIGNS = (
    *("C++", "pre-edit", "TODO: fix", "don't", "ubuntu 20.04", "AND", '"open', "NEAR(", "*", "100%", "a_b"),
    *(
        "a OR b NOT c",
        "text:x",
        "{x}",
        "^start",
        "x'); DROP TABLE memory; --",
        "\\",
        "'",
        "a & b | !c",
        "<->",
    ),
)
UNSPACED = {
    "我们把部署窗口改到周四晚上": ("部署", "部署窗口", "周四", "晚上"),
    "祖母は毎晩しりとりで遊んだ": ("しりとり", "祖母", "毎晩"),
    "배포 시간을 목요일로 바꿨습니다": ("배포", "목요일", "시간"),
    "ทีมย้ายเวลาปล่อยระบบ": ("ย้าย", "เวลา"),
    "服务器 nginx-prod 用了OpenSSL升级": ("nginx", "openssl", "升级", "nginx-prod"),
}


def note(text: str, *, scope: Scope = ANYWHERE, position: int = 1, **fields: Any) -> Memory:
    """An entry of ada's, from an event of a run of hers."""
    given = {
        "kind": MemoryKind.NOTE,
        "created_at": NOW,
        "valid_from": NOW,
        "origin": Origin("t-1", "r-1", position),
    }
    return Memory(text=text, scope=scope, **{**given, **fields})


def asked(text: str, **fields: Any) -> MemoryQuery:
    """A question of ada's."""
    return MemoryQuery(text=text, **{"asker": ADA, "at": NOW + timedelta(hours=1), **fields})


def texts(hits: Sequence[MemoryHit]) -> list[str]:
    """What was found, in order."""
    return [hit.memory.text for hit in hits]


def pointing(degrees: float, embedder: str = "flat") -> Vector:
    """A vector of 64 dimensions that turns about all of them with the angle."""
    angle = math.radians(degrees)
    return Vector.of(embedder, [math.cos(angle + place * math.pi / 32) for place in range(64)])
