"""`provider: scripted`: a model that says what a script tells it to. For tests and demos.

`script.py` reads a script, `choice.py` finds the entry that answers a request (pure), `provider.py` plays it.

May import: `ports`, `domain`, `pydantic`, and what all providers share (`arguments`, `tokens`).
To add one: a key of an entry is a field in `script.py` and its use in `choice.py` or `provider.py`.
"""

from outlast.adapters.providers.scripted.provider import Answering, ScriptedProvider
from outlast.adapters.providers.scripted.script import (
    Call,
    Failure,
    Rule,
    Spending,
    When,
    load_script,
    read_script,
)

__all__ = [
    "Answering",
    "Call",
    "Failure",
    "Rule",
    "ScriptedProvider",
    "Spending",
    "When",
    "load_script",
    "read_script",
]
