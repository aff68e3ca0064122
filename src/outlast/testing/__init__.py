"""The public test kit: contracts for every port, faults to inject, a clock to turn by hand.

May import: `api`, `adapters`, `ports`, `domain`.
To add one: a helper that users need to prove their own adapters; ours are proven with the same one.
"""

from outlast.adapters.providers.scripted import ScriptedProvider
from outlast.testing.clock import FakeClock
from outlast.testing.contexts import tool_context
from outlast.testing.faults import Crash, CrashPlan, CrashPoint, Faulty

__all__ = ["Crash", "CrashPlan", "CrashPoint", "FakeClock", "Faulty", "ScriptedProvider", "tool_context"]
