"""Events of shadow mode: what the variant of a step came to."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events.event import Event
from outlast.domain.shadow import Verdict
from outlast.domain.tool_call import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCompared(Event):
    """What the variant of a step came to beside the step itself. It is recorded only: nothing is decided by it.

    `call` is the call of a model or tool that was shadowed, `selector` chose it, `variant` is the digest of the settings that
    differ. `measure` is what was compared: `calls`, `value`, `list` or `text`; `overlap` is from 0 to 1. `result` is the text that
    came, bounded; `tool_calls` are those the variant's model asked for, which were not carried out; `arguments` those a tool would
    have been called with. Tokens and cost count beside those of the run.
    """

    call: str
    selector: str
    variant: str
    verdict: Verdict
    measure: str = ""
    overlap: float | None = None
    result: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    arguments: dict[str, Json] | None = None
    model: str = ""
    code: str | None = None
    detail: str = ""
    tokens: int = 0
    cost_usd: float | None = None
    duration_ms: int = 0
