"""The model in a wheel, as a process holds it."""

from concurrent.futures import ThreadPoolExecutor

from outlast.adapters.embedders.offline.minilm import _session


def test_a_process_loads_the_model_once_whoever_asks() -> None:
    with ThreadPoolExecutor(4) as threads:
        loaded = [threads.submit(_session) for _ in range(4)]
    assert len({id(one.result()) for one in loaded}) == 1
