"""What is kept, for how long, and what is gone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from outlast.domain.errors import CallerMistake
from outlast.domain.memory import Memory, MemoryKind, Origin, Scope
from outlast.ports.memory import Entry, MemoryFilter, MemoryStore
from outlast.testing.contracts.memory.samples import ADA, NOW, asked, note, pointing, texts


class Keeping:
    """What is kept, for how long, and what is gone."""

    async def test_what_is_put_is_read_back_equal(self, memory: MemoryStore) -> None:
        full = note(
            "Ada ships on Thursdays.\r\n\t🙂 𠮷 'quoted' \\ %s {x}",
            scope=ADA,
            kind=MemoryKind.FACT,
            title="A title",
            source="https://example.org/a?b=c",
            subtasks=("s1", "s2"),
            created_at=NOW + timedelta(microseconds=7),
            valid_to=NOW + timedelta(days=3),
            expires_at=NOW + timedelta(days=90),
        )
        assert await memory.put([Entry(full)]) == [full.memory_id]
        assert await memory.get("ada", [full.memory_id]) == [full]

    async def test_what_is_put_again_after_a_crash_is_the_same_entry(self, memory: MemoryStore) -> None:
        entry = Entry(note("The window is on Thursday."))
        first = await memory.put([entry])
        assert await memory.put([entry, entry]) == first * 2
        assert (await memory.stats("ada")).entries == 1

    async def test_what_still_holds_is_not_kept_twice_and_stays_as_long_as_the_later(
        self, memory: MemoryStore
    ) -> None:
        soon, later = NOW + timedelta(days=1), NOW + timedelta(days=9)
        [kept] = await memory.put([Entry(note("Ada likes tea.", expires_at=later))])
        again = [note("Ada likes tea.", position=turn, expires_at=soon) for turn in range(2, 12)]
        assert await memory.put(list(map(Entry, again))) == [kept] * 10
        [only] = await memory.list_memories("ada", MemoryFilter())
        assert only.expires_at == later
        await memory.put([Entry(note("Ada likes tea.", position=12))])
        [only] = await memory.list_memories("ada", MemoryFilter())
        assert only.expires_at is None

    async def test_the_same_words_in_another_scope_or_kind_are_another_entry(
        self, memory: MemoryStore
    ) -> None:
        same = [note("Tea."), note("Tea.", scope=Scope("ada", "t-1")), note("Tea.", kind=MemoryKind.FACT)]
        assert len(set(await memory.put(list(map(Entry, same))))) == 3

    async def test_nothing_is_kept_of_entries_one_of_which_cannot_be(self, memory: MemoryStore) -> None:
        with pytest.raises(CallerMistake) as refused:
            await memory.put([Entry(note("Good.")), Entry(note(" "))])
        assert refused.value.code == "bad_memory"
        assert (await memory.stats(None)).entries == 0

    async def test_text_that_no_store_holds_is_replaced(self, memory: MemoryStore) -> None:
        [kept] = await memory.put([Entry(note("a\x00b\ud800c"))])
        [read] = await memory.get("ada", [kept])
        assert read.text == "a\ufffdb\ufffdc"

    async def test_what_was_superseded_is_found_only_as_outdated_and_last(self, memory: MemoryStore) -> None:
        tea, coffee = note("The user likes to drink tea."), note("The user stopped drinking tea; coffee now.")
        ids = await memory.put([Entry(tea, pointing(0)), Entry(coffee, pointing(40))])
        changed = NOW + timedelta(minutes=5)
        assert await memory.supersede("ada", ids, ids[1], changed) == 1
        assert await memory.supersede("ada", ids, ids[1], changed) == 0
        query = asked("what does the user like to drink: tea?", vector=pointing(0))
        assert texts(await memory.search(query)) == [coffee.text]
        both = await memory.search(replace(query, include_outdated=True))
        assert texts(both) == [coffee.text, tea.text]
        assert [hit.is_outdated for hit in both] == [False, True]
        assert (both[1].memory.valid_to, both[1].memory.superseded_by) == (changed, ids[1])
        assert texts(await memory.search(replace(query, at=NOW)))[0] == tea.text

    async def test_what_was_superseded_may_become_true_again(self, memory: MemoryStore) -> None:
        tea, coffee = await memory.put([Entry(note("Ada likes tea.")), Entry(note("Ada likes coffee."))])
        await memory.supersede("ada", [tea], coffee, NOW)
        [again] = await memory.put([Entry(note("Ada likes tea.", position=2))])
        assert again != tea
        assert texts(await memory.search(asked("tea"))) == ["Ada likes tea."]

    async def test_an_unknown_entry_supersedes_nothing(self, memory: MemoryStore) -> None:
        [kept] = await memory.put([Entry(note("Ada likes tea."))])
        assert await memory.supersede("ada", [kept], "m-unknown", NOW) == 0
        assert await memory.supersede("nobody", [kept], kept, NOW) == 0

    async def test_what_expired_is_not_found_and_then_gone(self, memory: MemoryStore) -> None:
        end = NOW + timedelta(minutes=30)
        fleeting = [note(f"fleeting {number}", expires_at=end) for number in range(3)]
        bobs = note("fleeting of bob", scope=Scope("bob"), expires_at=end)
        await memory.put([Entry(each, pointing(5)) for each in (*fleeting, bobs, note("lasting"))])
        assert texts(await memory.search(asked("fleeting", vector=pointing(5)))) == ["lasting"]
        assert await memory.expire(NOW) == 0
        assert await memory.expire(end) == 4
        assert await memory.expire(end) == 0
        assert (await memory.stats(None)).entries == 1

    async def test_an_archived_entry_is_kept_and_not_recalled(self, memory: MemoryStore) -> None:
        [kept] = await memory.put([Entry(note("old tea"), pointing(0))])
        assert await memory.archive("ada", MemoryFilter(memory_ids=(kept,)), NOW) == 1
        assert await memory.archive("ada", MemoryFilter(memory_ids=(kept,)), NOW) == 0
        assert await memory.search(asked("tea", vector=pointing(0), include_outdated=True)) == []
        [listed] = await memory.list_memories("ada", MemoryFilter(archived=True))
        assert listed.archived_at == NOW
        assert await memory.list_memories("ada", MemoryFilter(archived=False)) == []

    async def test_what_ended_long_ago_is_archived_for_all_users(self, memory: MemoryStore) -> None:
        ended = [note(f"of {user}", scope=Scope(user), valid_to=NOW) for user in ("ada", "bob")]
        await memory.put([*map(Entry, ended), Entry(note("of today"))])
        assert await memory.archive(None, MemoryFilter(ended_before=NOW), NOW) == 0
        assert await memory.archive(None, MemoryFilter(ended_before=NOW + timedelta(days=1)), NOW) == 2
        assert (await memory.stats(None)).archived == 2

    @pytest.mark.parametrize(
        ("which", "left"),
        [
            (MemoryFilter(source="https://a.example/"), {"b", "c", "d"}),
            (MemoryFilter(run_id="r-2"), {"a", "b", "d"}),
            (MemoryFilter(thread_id="t-2"), {"a", "b"}),
            (MemoryFilter(kinds=frozenset({MemoryKind.FACT})), {"a", "c", "d"}),
            (MemoryFilter(), set()),
        ],
    )
    async def test_what_is_forgotten_is_gone(
        self, memory: MemoryStore, which: MemoryFilter, left: set[str]
    ) -> None:
        entries = [
            note("tea a", source="https://a.example/"),
            note("tea b", kind=MemoryKind.FACT),
            note("tea c", origin=Origin("t-2", "r-2", 1)),
            note("tea d", scope=Scope("ada", "t-2")),
        ]
        await memory.put(
            [*(Entry(each, pointing(0)) for each in entries), Entry(note("tea", scope=Scope("bob")))]
        )
        seer = asked("tea", asker=Scope("ada", "t-2"), vector=pointing(0), include_outdated=True)
        assert len(await memory.search(seer)) == 4
        assert await memory.forget("ada", which) == 4 - len(left)
        assert {text[-1] for text in texts(await memory.search(seer))} == left
        assert {each.text[-1] for each in await memory.list_memories("ada", MemoryFilter())} == left
        stats = await memory.stats("ada")
        assert (stats.entries, stats.vectors.get("flat/64", 0)) == (len(left), len(left))
        assert (await memory.stats("bob")).entries == 1

    async def test_what_was_forgotten_can_be_remembered_anew(self, memory: MemoryStore) -> None:
        entry = Entry(note("tea"), pointing(0))
        await memory.put([entry])
        await memory.forget("ada", MemoryFilter())
        await memory.put([Entry(note("coffee"), pointing(180))])
        assert texts(await memory.search(asked("tea"))) == []
        await memory.put([entry])
        assert texts(await memory.search(asked("tea"))) == ["tea"]

    async def test_entries_are_listed_newest_first_in_pages(self, memory: MemoryStore) -> None:
        many = [note(str(number), created_at=NOW + timedelta(seconds=number // 3)) for number in range(10)]
        await memory.put(list(map(Entry, many)))
        listed: list[Memory] = []
        while page := await memory.list_memories("ada", MemoryFilter(), 4, listed[-1] if listed else None):
            listed += page
        assert sorted(listed, key=lambda each: each.created_at, reverse=True) == listed
        assert {each.memory_id for each in listed} == {each.memory_id for each in many}
        assert len(listed) == 10

    async def test_get_keeps_the_order_asked_for(self, memory: MemoryStore) -> None:
        ids = await memory.put([Entry(note(text)) for text in ("a", "b", "c")])
        wanted = [ids[2], "m-unknown", ids[0]]
        assert [each.text for each in await memory.get("ada", wanted)] == ["c", "a"]
        assert await memory.get("nobody", ids) == []

    async def test_counts_are_told_by_kind(self, memory: MemoryStore) -> None:
        ids = await memory.put(
            [Entry(note("a")), Entry(note("b")), Entry(note("c", kind=MemoryKind.PAGE), pointing(1))]
        )
        await memory.supersede("ada", [ids[0]], ids[1], NOW)
        stats = await memory.stats("ada")
        assert stats.kinds == {MemoryKind.NOTE: 2, MemoryKind.PAGE: 1}
        assert (stats.entries, stats.outdated, stats.archived) == (3, 1, 0)
        assert (await memory.stats("nobody")).entries == 0

    async def test_many_at_once_come_out_as_one_after_another(self, memory: MemoryStore) -> None:
        same = [memory.put([Entry(note("tea", position=turn), pointing(turn))]) for turn in range(20)]
        others = [memory.put([Entry(note(f"tea {turn}"))]) for turn in range(20)]
        kept = await asyncio.gather(*same, *others)
        assert len({ids[0] for ids in kept[:20]}) == 1
        assert (await memory.stats("ada")).entries == 21
