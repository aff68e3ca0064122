"""Conversations with a model, recorded to a file and replayed from it.

A recording is a file of JSON lines: the first says what it is, every other is one call and what came of it. A call is known by
a key made of what was asked, with secrets and what differs from run to run (nonces of fences, ids of runs, dates) put aside, so
that a new run of the same task over the same material meets the same answers, whatever the order of its parallel calls.

May import: `ports`, `domain`, `pydantic`, and the modules of `adapters.providers`.
To add one: what else differs from run to run goes into `key`, what else may be a secret into `hiding`.
"""

from outlast.adapters.providers.replay.provider import ReplayProvider
from outlast.adapters.providers.replay.recorder import Recorder, Recording

__all__ = ["Recorder", "Recording", "ReplayProvider"]
