"""Memory in the hands of a tool: asked and told in the name of the run and the conversation that calls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from outlast.domain.errors import ToolTrouble
from outlast.domain.memory import Memory, MemoryKind, Origin
from outlast.domain.recalled import Recalled
from outlast.domain.run import Branch, RunState
from outlast.ports.memory import Entry
from outlast.runs.desk import Desk
from outlast.runs.recall.long_term import asker_of, recalled_from
from outlast.runs.recall.perform import found_for
from outlast.runs.recall.short_term import visible_subtasks
from outlast.runs.recall.showing import cut
from outlast.runs.remembering.long_term_memory import LongTermMemory

REPLACEABLE: Final = frozenset({MemoryKind.FACT, MemoryKind.NOTE})
"""What a note may take the place of; pages and conclusions are outdated by newer ones."""


class MemoryOfRun:
    """`RunMemory` of one conversation of one run."""

    def __init__(self, desk: Desk, kept: LongTermMemory, state: RunState, branch: Branch) -> None:
        self._desk, self._kept, self._state, self._branch = desk, kept, state, branch

    async def remember(self, text: str, replaces: Sequence[str]) -> str:
        """Keep a note and let it replace others; all of it may be done again."""
        await self._check(replaces)
        now, state, store = self._desk.now(), self._state, self._kept.store
        subtask = self._branch.subtask
        note = Memory(
            kind=MemoryKind.NOTE,
            text=text,
            scope=self._kept.rules.scope_of(state.user_id, state.thread_id),
            created_at=now,
            valid_from=now,
            title="noted by the assistant",
            subtasks=(subtask,) if subtask is not None else (),
            origin=Origin(state.thread_id, state.run_id),
            expires_at=self._kept.rules.expiry_of(now),
        )
        [vector] = await self._kept.vectors([text])
        [kept] = await store.put([Entry(note, vector)])
        if replaces:
            await store.supersede(state.user_id, replaces, kept, now)
        return kept

    async def recall(self, query: str, limit: int) -> list[Recalled]:
        """The tiers in order, whatever the conversation was shown before."""
        found = await found_for(self._desk, self._state, self._branch, query)
        return [cut(one) for one in found[:limit]]

    async def read(self, memory_id: str) -> Recalled | None:
        """One entry of long-term memory, or one conclusion of this run."""
        for memory in await self._kept.store.get(self._state.user_id, [memory_id]):
            return recalled_from(memory, self._desk.now()) if self._may_see(memory) else None
        return self._conclusion(memory_id)

    def _conclusion(self, name: str) -> Recalled | None:
        visible = visible_subtasks(self._state, self._branch)
        for item in self._state.plan:
            for one in item.conclusions if item.subtask.id in visible else ():
                if one.id == name:
                    topic = item.subtask.question
                    return Recalled(id=name, tier="run", kind="conclusion", text=one.claim, topic=topic)
        return None

    def _may_see(self, memory: Memory) -> bool:
        is_own = memory.origin.run_id == self._state.run_id
        visible = visible_subtasks(self._state, self._branch)
        is_hidden = is_own and bool(memory.subtasks) and visible.isdisjoint(memory.subtasks)
        return asker_of(self._state).sees(memory.scope) and not is_hidden

    async def _check(self, replaces: Sequence[str]) -> None:
        known = {one.memory_id: one for one in await self._kept.store.get(self._state.user_id, replaces)}
        for name in replaces:
            memory = known.get(name)
            if memory is None or not self._may_see(memory):
                raise ToolTrouble(
                    "not_remembered",
                    f"Memory has no entry {name}.",
                    "Copy ids from what recall brought back.",
                )
            if memory.kind not in REPLACEABLE:
                detail = f"{name} is a {memory.kind}, which a note cannot replace."
                raise ToolTrouble("not_remembered", detail, "Replace facts and notes only.")
