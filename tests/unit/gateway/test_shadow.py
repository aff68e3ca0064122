"""The report of shadow mode over HTTP: everybody's own, an admin's of all, in the shape that is described."""

from pathlib import Path

from outlast.gateway.shapes.shadow import ShadowDocument
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.gateway.house import House, house_of
from tests.unit.gateway.test_shapes import assert_fits

CONFIG = """
gateway: {auth: token, max_requests_per_second: 1000}
shadow: {steps: ["role:chat"], variant: {llm: {temperature: 1.0}}}
"""


async def played(house: House, headers: dict[str, str]) -> str:
    """A run of a user, driven here and its comparisons seen through."""
    started = await house.client.post("/api/runs", json={"task": "talk", "input": "Go"}, headers=headers)
    run_id: str = started.json()["run_id"]
    engine = house.serving.site.engine
    await engine.work_on(run_id)
    await engine.builder.settle(PATIENCE_SECONDS)
    return run_id


@law("SEE-4.d")
async def test_everybody_is_told_of_their_own_comparisons_and_an_admin_of_all(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=CONFIG, workers=0) as house:
        ann, bob = [{"Authorization": f"Bearer {(await house.user(name)).secret}"} for name in ("ann", "bob")]
        boss = {"Authorization": f"Bearer {(await house.user('boss', 'read', 'admin')).secret}"}
        await played(house, ann)
        await played(house, ann)
        await played(house, bob)
        found = (await house.client.get("/api/shadow", headers=ann)).json()
        assert_fits(ShadowDocument, found)
        [group] = found["variants"]
        assert (found["runs"], group["selector"], group["comparisons"], group["agreement"]) == (
            2,
            "role:chat",
            2,
            1.0,
        )
        assert (await house.client.get("/api/shadow?task=ask", headers=ann)).json()["variants"] == []
        assert (await house.client.get("/api/shadow?all=true", headers=ann)).status_code == 403
        assert (await house.client.get("/api/shadow?all=true", headers=boss)).json()["runs"] == 3
        assert (await house.client.get("/api/shadow")).status_code == 401
        wrong = await house.client.get("/api/shadow?since=ever", headers=ann)
        assert (wrong.status_code, wrong.json()["code"]) == (400, "bad_age")


async def test_what_a_run_looks_like_does_not_depend_on_its_shadow(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=CONFIG, workers=0) as house:
        ann = {"Authorization": f"Bearer {(await house.user('ann')).secret}"}
        run_id = await played(house, ann)
        shown = (await house.client.get(f"/api/runs/{run_id}", headers=ann)).json()
        assert (shown["state"], shown["steps"]) == ("COMPLETED", 1)
        assert shown["tokens"] == sum(part["tokens"] for part in shown["spent"]["by_role"])
        lines = (await house.client.get(f"/api/runs/{run_id}/trace", headers=ann)).json()["lines"]
        assert [line["kind"] for line in lines].count("ShadowCompared") == 1
