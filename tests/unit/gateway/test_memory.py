"""Memory over HTTP: looked through and forgotten by whom it is about."""

from pathlib import Path

from outlast.domain.memory import Memory, MemoryKind, Scope
from outlast.gateway.shapes.memory import MemoryList
from outlast.ports.memory import Entry
from tests.unit.gateway.house import House, house_of
from tests.unit.tasks.props import START


async def know(house: House, *texts: str) -> None:
    """Have something remembered of the person at the machine."""
    memory = house.serving.site.engine.memory
    assert memory is not None
    entries = [
        Memory(kind=kind, text=text, scope=Scope("local"), created_at=START, valid_from=START)
        for text, kind in zip(texts, (MemoryKind.NOTE, MemoryKind.FACT), strict=True)
    ]
    await memory.store.put([Entry(one) for one in entries])


async def test_what_is_remembered_is_listed_found_by_words_and_forgotten(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        await know(house, "Ann likes tidal lagoons.", "The turbines stand in Swansea.")
        everything = (await house.client.get("/api/memory")).json()
        MemoryList.model_validate(everything)
        assert len(everything["memories"]) == 2
        [fact] = (await house.client.get("/api/memory", params={"kind": "fact"})).json()["memories"]
        assert fact["text"] == "The turbines stand in Swansea."
        found = (await house.client.get("/api/memory", params={"query": "tidal lagoons"})).json()
        MemoryList.model_validate(found)
        assert found["memories"][0]["text"] == "Ann likes tidal lagoons."
        assert found["memories"][0]["score"] > 0
        wrong = await house.client.get("/api/memory", params={"kind": "rumour"})
        assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_request")
        path = f"/api/memory/{fact['id']}"
        assert (await house.client.delete(path)).status_code == 204
        again = await house.client.delete(path)
        assert (again.status_code, again.json()["code"]) == (404, "unknown_memory")
        assert (await house.client.delete("/api/memory/-x")).status_code == 404
        assert len((await house.client.get("/api/memory")).json()["memories"]) == 1


async def test_where_nothing_is_remembered_it_says_why(tmp_path: Path) -> None:
    async with house_of(tmp_path, config="memory: {enabled: false}\n", workers=0) as house:
        refused = await house.client.get("/api/memory")
        assert (refused.status_code, refused.json()["code"]) == (400, "no_memory")
