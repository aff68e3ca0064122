"""Event streams: nothing missing, nothing doubled, wherever a client left off; and pieces of answers as they are made."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from outlast.gateway import streams
from outlast.ports.live import Frame as Piece
from outlast.service.trace import Follower
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.gateway.house import Frame, House, eventually, house_of


@law("DOOR-1.b")
async def test_stream_tells_every_event_once_in_order_and_ends_with_the_run(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run_id = (await house.start())["run_id"]
        frames = await house.all_events(run_id)
        lines = (await house.client.get(f"/api/runs/{run_id}/trace")).json()["lines"]
        told = [frame for frame in frames if frame.id is not None]
        assert [(frame.id, frame.event, frame.data) for frame in told] == [
            (str(line["seq"]), line["kind"], line) for line in lines
        ]
        assert (frames[-1].event, frames[-1].data) == ("end", {"state": "COMPLETED"})


@law("DOOR-1.b")
async def test_g11_02_stream_goes_on_after_any_event_a_client_has_seen(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run_id = await _ended(house)
        whole = [frame for frame in await house.all_events(run_id) if frame.id is not None]
        for seen in range(1, len(whole)):
            rest = await house.all_events(run_id, headers={"Last-Event-ID": str(seen)})
            assert [frame for frame in rest if frame.id is not None] == whole[seen:]
            assert [frame.event for frame in rest if frame.id is None and frame.event] == ["end"]
        over = await house.client.get(
            f"/api/runs/{run_id}/events", headers={"Last-Event-ID": str(len(whole))}
        )
        assert (over.status_code, over.content) == (204, b""), "a client is not to connect again for ever"


async def test_the_header_of_a_reconnect_wins_over_the_position_in_the_address(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run_id = await _ended(house)
        from_address = await house.all_events(run_id, params={"after": "2"})
        reconnected = await house.all_events(run_id, params={"after": "2"}, headers={"Last-Event-ID": "4"})
        assert _first_id(from_address) == "3"
        assert _first_id(reconnected) == "5"


@pytest.mark.parametrize("position", ["99999", "-1", "abc", "1.5", "١", "9" * 5000, "1; DROP"])
async def test_position_that_is_none_of_the_run_makes_the_client_begin_again(
    tmp_path: Path, position: str
) -> None:
    async with house_of(tmp_path) as house:
        run_id = await _ended(house)
        frames = await house.all_events(run_id, params={"after": position})
        assert [frame.event for frame in frames if frame.event][:2] == ["resync", "RunStarted"]
        assert _first_id(frames) == "1"


async def test_g11_04_nothing_on_the_way_may_hold_a_stream_back(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        run_id = (await house.start())["run_id"]
        asked = {"Accept-Encoding": "gzip, br"}
        async with house.client.stream("GET", f"/api/runs/{run_id}/events", headers=asked) as answer:
            headers = answer.headers
            assert headers["content-type"].startswith("text/event-stream")
            assert (headers["x-accel-buffering"], headers["cache-control"]) == ("no", "no-store")
            assert "content-encoding" not in headers


async def test_g11_04_stream_on_which_nothing_happens_says_that_it_is_there(tmp_path: Path) -> None:
    with patch.object(streams, "HEARTBEAT_SECONDS", 0.05):
        async with house_of(tmp_path, workers=0) as house:
            run_id = (await house.start())["run_id"]
            async with house.events(run_id) as frames:
                beats = []
                async for frame in frames:
                    beats += [frame] if frame.comment == "here" else []
                    if len(beats) == 3:
                        break
            assert all(beat.id is None and beat.event is None for beat in beats)


async def test_pieces_of_an_answer_come_before_the_answer_and_move_no_position(tmp_path: Path) -> None:
    async with house_of(tmp_path, [{"say": "one two three"}], workers=0) as house:
        run_id = (await house.start())["run_id"]
        async with house.events(run_id) as frames:
            first = [await anext(frames), await anext(frames)]
            assert first[1].event == "RunStarted"
            live = house.serving.site.engine.live
            await eventually(lambda: live.is_heard(run_id))
            worker = house.serving.site.engine.worker()
            working = asyncio.create_task(worker.work_on(run_id))
            rest = [frame async for frame in frames]
            await working
        kinds = [frame.event for frame in rest]
        deltas = [frame for frame in rest if frame.event == "delta"]
        assert "".join(frame.data["text"] for frame in deltas) == "one two three"
        assert all(frame.id is None for frame in deltas)
        assert kinds.index("delta") < kinds.index("ModelAnswered")


async def test_pieces_that_come_while_the_journal_is_read_come_before_the_answer_too(tmp_path: Path) -> None:
    """As where a worker is so quick that its answer is committed before a stream has looked for the pieces."""
    more = Follower.more
    async with house_of(tmp_path, [{"say": "one two three"}], workers=0) as house:
        run_id = (await house.start())["run_id"]
        live = house.serving.site.engine.live

        async def late(follower: Follower) -> list[dict[str, Any]]:
            lines = await more(follower)
            if any(line["kind"] == "ModelAnswered" for line in lines):
                live.publish(Piece(run_id, "main", "executor", "a late piece", ""))
            return lines

        with patch.object(Follower, "more", late):
            async with house.events(run_id) as frames:
                await eventually(lambda: live.is_heard(run_id))
                await house.serving.site.engine.worker().work_on(run_id)
                told = [frame async for frame in frames]
        places = [place for place, frame in enumerate(told) if frame.event == "delta"]
        assert any("a late piece" in told[place].data["text"] for place in places)
        assert max(places) < [frame.event for frame in told].index("ModelAnswered")


async def test_g11_05_stream_beyond_what_one_user_may_have_is_refused_and_a_closed_one_makes_room(
    tmp_path: Path,
) -> None:
    async with house_of(tmp_path, workers=0, config="gateway: {max_streams_per_user: 2}\n") as house:
        run_id = (await house.start())["run_id"]
        async with house.events(run_id) as one, house.events(run_id) as two:
            await anext(one)
            await anext(two)
            refused = await house.client.get(f"/api/runs/{run_id}/events")
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
            assert refused.headers["retry-after"]
        await eventually(lambda: len(house.serving.site.streams) == 0)
        async with house.events(run_id) as again:
            assert (await anext(again)).comment is not None


@law("DOOR-1.b")
async def test_g11_05_many_idle_streams_hold_no_connection_of_the_store(
    tmp_path: Path, postgres_store_url: str
) -> None:
    place = f"backend: postgres, url: '{postgres_store_url}'"
    async with house_of(tmp_path, workers=0, persistence=place) as house, AsyncExitStack() as stack:
        runs = [(await house.start())["run_id"] for _ in range(8)]
        open_streams = [await stack.enter_async_context(house.events(runs[at % 8])) for at in range(40)]
        for frames in open_streams:
            await anext(frames)
            assert (await anext(frames)).event == "RunStarted"
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await house.client.post("/api/runs", json={"task": "talk", "input": "Go"})
        assert answer.status_code == 202
        await house.client.post(f"/api/runs/{runs[0]}/say", json={"text": "wait"})
        for frames in open_streams[::8]:
            assert (await anext(frames)).event == "Said"
    assert len(house.serving.site.streams) == 0


async def test_streams_are_told_when_the_gateway_closes_and_it_does_not_wait_for_them(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        run_id = (await house.start())["run_id"]
        async with house.events(run_id) as frames:
            await anext(frames)
            house.serving.stop()
            rest = [frame async for frame in frames]
        assert rest[-1].event == "closing"


async def _ended(house: House) -> str:
    run_id: str = (await house.start())["run_id"]
    await house.until(run_id, "COMPLETED")
    await house.all_events(run_id)
    return run_id


def _first_id(frames: list[Frame]) -> str | None:
    return next(frame.id for frame in frames if frame.id is not None)
