"""What is found, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from outlast.domain.memory import MemoryKind, Origin, Scope
from outlast.ports.memory import Entry, MemoryFilter, MemoryStore
from outlast.testing.contracts.memory.samples import NOW, SIGNS, UNSPACED, asked, note, pointing, texts


class Finding:
    """What is found, and by whom."""

    @pytest.mark.parametrize("text", SIGNS)
    async def test_no_sign_in_a_query_has_a_meaning_and_what_holds_it_is_found(
        self, memory: MemoryStore, text: str
    ) -> None:
        await memory.put([Entry(note(f"Somebody wrote {text} there.")), Entry(note("Unrelated gardening."))])
        assert texts(await memory.search(asked(text)))[:1] == [f"Somebody wrote {text} there."]

    @pytest.mark.parametrize(
        "query", ["", " \n", "\x00", "\ud800", "🙂", "x" * 100_000, "%", "_", "()", "--"]
    )
    async def test_any_text_may_be_asked(self, memory: MemoryStore, query: str) -> None:
        await memory.put([Entry(note("Plain words."))])
        assert texts(await memory.search(asked(query))) == []

    @pytest.mark.parametrize(("text", "queries"), UNSPACED.items())
    async def test_words_of_scripts_without_spaces_are_found_wherever_they_stand(
        self, memory: MemoryStore, text: str, queries: Sequence[str]
    ) -> None:
        others = [note(other) for other in UNSPACED if other != text]
        await memory.put(list(map(Entry, [*others, note(text)])))
        for query in queries:
            assert texts(await memory.search(asked(query)))[:1] == [text], query

    async def test_a_two_part_name_comes_before_its_parts(self, memory: MemoryStore) -> None:
        await memory.put(
            [
                Entry(note("The edit came before, and pre means before.")),
                Entry(note("The pre-edit hook ran.")),
                Entry(note("getUserById is slow.")),
            ]
        )
        assert texts(await memory.search(asked("pre-edit")))[0] == "The pre-edit hook ran."
        assert texts(await memory.search(asked("user by id"))) == ["getUserById is slow."]

    async def test_nobody_sees_what_is_anothers(self, memory: MemoryStore) -> None:
        scopes = [
            *(Scope("ada"), Scope("ada", "t-1"), Scope("ada", "t-1", "r-1")),
            *(Scope("bob"), Scope("ada", "t-2"), Scope("ada", "t-2", "r-1"), Scope("ada", "t-1", "r-2")),
            *(Scope("bob", "t-1", "r-1"), Scope("1"), Scope("ad"), Scope("ADA")),
        ]
        secret = [note(f"The secret word is {number}.", scope=scope) for number, scope in enumerate(scopes)]
        await memory.put([Entry(each, pointing(10 + number)) for number, each in enumerate(secret)])
        for query in ("secret word", "bob", "1xsecret", "user_id:bob secret", *map(str, range(11)), "", "."):
            for vector in (None, pointing(15)):
                hits = await memory.search(asked(query, vector=vector, limit=50))
                assert {hit.memory.scope for hit in hits} <= set(scopes[:3]), query
        seen = await memory.search(asked("secret", vector=pointing(15), limit=50))
        assert {hit.memory.scope for hit in seen} == set(scopes[:3])

    async def test_no_verb_reaches_what_is_another_users(self, memory: MemoryStore) -> None:
        kept = await memory.put([Entry(note("Bob's.", scope=Scope("bob")))])
        own = await memory.put([Entry(note("Ada's."))])
        assert await memory.get("ada", kept) == []
        assert await memory.forget("ada", MemoryFilter(memory_ids=tuple(kept))) == 0
        assert await memory.archive("ada", MemoryFilter(memory_ids=tuple(kept)), NOW) == 0
        assert await memory.supersede("ada", kept, own[0], NOW) == 0
        assert await memory.supersede("bob", kept, own[0], NOW) == 0
        assert [each.text for each in await memory.list_memories("ada", MemoryFilter())] == ["Ada's."]
        assert len(await memory.get("bob", kept)) == 1

    async def test_a_subtask_sees_its_own_and_what_is_of_none_or_of_other_runs(
        self, memory: MemoryStore
    ) -> None:
        await memory.put(
            [
                Entry(note("cost of one", subtasks=("s1",))),
                Entry(note("cost of two", subtasks=("s2",))),
                Entry(note("cost of both", subtasks=("s1", "s2"))),
                Entry(note("cost of all")),
                Entry(note("cost elsewhere", subtasks=("s2",), origin=Origin("t-1", "r-0", 1))),
            ]
        )
        found = set(texts(await memory.search(asked("cost", subtasks=frozenset({"s1"})))))
        assert found == {"cost of one", "cost of both", "cost of all", "cost elsewhere"}
        assert len(await memory.search(asked("cost"))) == 5
        assert "cost of two" not in texts(await memory.search(asked("cost", subtasks=frozenset())))

    async def test_kinds_and_limit_are_kept_to(self, memory: MemoryStore) -> None:
        kinds = list(MemoryKind)
        await memory.put([Entry(note(f"tea {number}", kind=kinds[number % 4])) for number in range(40)])
        wanted = frozenset({MemoryKind.FACT, MemoryKind.PAGE})
        hits = await memory.search(asked("tea", kinds=wanted, limit=15))
        assert len(hits) == 15
        assert {hit.memory.kind for hit in hits} == wanted

    async def test_entries_hold_only_in_their_time(self, memory: MemoryStore) -> None:
        later = note("the moon in December", valid_from=NOW + timedelta(days=1))
        await memory.put([Entry(later)])
        assert await memory.search(asked("moon")) == []
        assert len(await memory.search(asked("moon", at=NOW + timedelta(days=2)))) == 1

    async def test_few_that_may_be_seen_are_found_among_many_that_may_not(self, memory: MemoryStore) -> None:
        hidden = [
            Entry(note(f"hidden {number}", scope=Scope("ada", "t-9")), pointing(number / 100))
            for number in range(900)
        ]
        await memory.put([*hidden, Entry(note("seen"), pointing(170))])
        assert texts(await memory.search(asked("zzz", vector=pointing(0)))) == ["seen"]
