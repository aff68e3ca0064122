"""The Python door: `Harness`, which opens a config and starts, watches and steers runs.

May import: `wiring`, `service`, `ports`, `domain`.
To add one: a method of a few lines over one verb of `service`.
"""

from outlast.api.harness import Harness, Run

__all__ = ["Harness", "Run"]
