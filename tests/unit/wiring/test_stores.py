"""The store of a configuration."""

from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.wiring import stores
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings

URL = "redis://ann:canary@db.example:6380/2"


def settings(folder: Path, persistence: str) -> Settings:
    path = folder / "outlast.yaml"
    path.write_text(f"harness: {{persistence: {persistence}}}\n", "utf-8")
    return load(path)


def test_redis_is_found_by_its_backend_and_shows_no_password(tmp_path: Path) -> None:
    configured = settings(tmp_path, '{backend: redis, url: "${REDIS_URL}", allow_loss: true}')
    store = stores.store_of(configured, {"REDIS_URL": URL})
    assert type(store).__name__ == "RedisStore"
    assert store._allow_loss  # type: ignore[attr-defined]
    assert "canary" not in repr(vars(store))
    assert "db.example:6380" in repr(vars(store))
    assert configured.notices == ()


def test_postgres_is_found_by_its_backend_and_shows_no_password(tmp_path: Path) -> None:
    configured = settings(tmp_path, '{backend: postgres, url: "${DB}"}')
    store = stores.store_of(configured, {"DB": "postgresql://ann:canary@db.example:6432/runs?schema=mine"})
    assert type(store).__name__ == "PostgresStore"
    assert "canary" not in repr(vars(store)) + repr(vars(store)["_dialer"].address)
    assert "db.example:6432/runs" in repr(vars(store)["_dialer"].address)
    assert configured.notices == ()


@pytest.mark.parametrize("backend", ["postgres", "redis"])
def test_a_server_without_an_address_is_a_mistake(tmp_path: Path, backend: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        stores.store_of(settings(tmp_path, f"{{backend: {backend}}}"), {})
    assert refused.value.code == "missing_setting"
    assert "harness.persistence.url" in refused.value.next_step


def test_an_address_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(CallerMistake) as refused:
        stores.store_of(settings(tmp_path, "{backend: redis, url: 'db.example:6380'}"), {})
    assert refused.value.code == "store_url"
    assert "redis://" in refused.value.next_step


def test_a_missing_library_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stores.STORES, "redis", "outlast.no_such_library:RedisStore")
    with pytest.raises(CallerMistake) as refused:
        stores.store_of(settings(tmp_path, "{backend: redis, url: 'redis://h'}"), {})
    assert refused.value.code == "extra_missing"
    assert "outlast[redis]" in refused.value.next_step


@pytest.mark.parametrize("persistence", ["{backend: memory}", "{backend: redis, url: 'redis://h'}"])
def test_only_a_file_is_inspected(tmp_path: Path, persistence: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        stores.inspect_store(settings(tmp_path, persistence), {})
    assert refused.value.code == "nothing_to_inspect"


def test_beside_redis_memory_lies_in_a_file_unless_it_is_off(tmp_path: Path) -> None:
    configured = settings(tmp_path, "{backend: redis, url: 'redis://h'}")
    store = stores.store_of(configured, {})
    assert store._beside._opener.path == tmp_path / ".outlast" / "memory.db"  # type: ignore[attr-defined]
    path = tmp_path / "outlast.yaml"
    path.write_text(path.read_text("utf-8") + "memory: {enabled: false}\n", "utf-8")
    assert stores.store_of(load(path), {}).memory is None  # type: ignore[attr-defined]
