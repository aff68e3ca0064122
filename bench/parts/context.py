"""What a long run sends to its models: what must stay is there, little is sent anew, and it costs what it must."""

from collections.abc import Iterator
from typing import Any

from bench.child import probe
from bench.table import Row

CHAT_STEPS = 500
STEPS_OF_A_SUBTASK = 40


def measure() -> Iterator[Row]:
    """A conversation of 500 steps in which 100 facts are said or pinned, and a research of three subtasks of 40 steps."""
    found = probe("bench.probes.context", "chat", "--steps", CHAT_STEPS)
    yield from of_run("chat", found)
    yield Row("chat: foldings into a summary", found["summaries"], "", at_least=20)
    yield Row("chat: facts of 100 that the last request lacks", found["missing_facts"], "", at_most=0)
    found = probe("bench.probes.context", "research", "--steps", STEPS_OF_A_SUBTASK)
    yield from of_run("research", found)
    mixed = "research: contexts with something of another subtask"
    yield Row(mixed, found["mixed_contexts"], "", at_most=0)


def of_run(name: str, found: dict[str, Any]) -> Iterator[Row]:
    """What is asked of every run."""
    kept = f"{name}: of a request, the next begins with"
    yield Row(f"{kept} (mean)", found["kept_mean"] * 100, "%", at_least=95)
    yield Row(f"{kept} (worst)", found["kept_worst"] * 100, "%", at_least=95)
    before = f"{name}: of a request, sent before"
    yield Row(f"{before} (mean)", found["sent_before_mean"] * 100, "%")
    yield Row(f"{before} (worst tenth)", found["sent_before_worst_tenth"] * 100, "%")
    yield Row(f"{before} (worst)", found["sent_before_worst"] * 100, "%")
    yield Row(f"{name}: requests with a call or result alone", found["broken_pairs"], "", at_most=0)
    yield Row(f"{name}: largest request", found["most_tokens"], "tokens", at_most=24_000)
    yield Row(f"{name}: largest summary", found["most_summary_tokens"], "tokens", at_most=3_600)
    saved = found["tokens_sent"] / found["tokens_if_never_compressed"]
    yield Row(f"{name}: tokens sent / never compressed", saved, "x")
