"""outlast: a durable agent harness whose runs outlive the process, the machine and the deploy.

`from outlast import Harness` is the way in. The name is loaded when it is asked for, so that
`import outlast` costs nothing and pulls in no vendor.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {"Harness": "outlast.api"}

__all__ = ["Harness", "__version__"]


def __getattr__(name: str) -> object:
    """Load a public name from the room it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
