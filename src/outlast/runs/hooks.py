"""Running a user's hook: sync or async, within its time, its verdict an event."""

from __future__ import annotations

import inspect
from functools import partial

from outlast.domain.door import Json, apart, clean_text, in_words
from outlast.domain.events import HookRan
from outlast.domain.hooks import HOOK_TIMEOUT_SECONDS, Hook, HookContext, Veto
from outlast.domain.run import RunState
from outlast.runs.contained import Escaped, contained, in_thread
from outlast.runs.desk import Desk


async def call_hook(
    desk: Desk, state: RunState, name: str, point: str, subject: str, info: dict[str, Json], attempt: int
) -> HookRan:
    """Run a hook and journal its verdict."""
    started = desk.seconds()
    context = HookContext(
        point, state.run_id, state.thread_id, state.user_id, state.definition.name, attempt, apart(info)
    )
    veto = await verdict_of(desk.means.hooks[name], context)
    return HookRan(name, point, subject, veto, round((desk.seconds() - started) * 1000))


def _is_plain(hook: Hook) -> bool:
    return not inspect.iscoroutinefunction(hook)


async def _found(hook: Hook, context: HookContext) -> object:
    found: object = await in_thread(partial(hook, context)) if _is_plain(hook) else hook(context)
    return await found if inspect.isawaitable(found) else found


async def verdict_of(hook: Hook, context: HookContext) -> str | None:
    """Why a hook refuses, if it does. One that raises, or does not end in time, refuses: a check that fails does not pass."""
    try:
        return _read(await contained(_found(hook, context), HOOK_TIMEOUT_SECONDS))
    except TimeoutError:
        return f"it did not end within {HOOK_TIMEOUT_SECONDS:g} seconds"
    except Escaped as error:
        return f"it let out {error}"[:1000]
    except Exception as error:  # noqa: BLE001 - whatever a user's hook raises is its verdict
        return f"it raised {in_words(error)}"[:1000]


def _read(found: object) -> str | None:
    """Why a hook that returned this refuses, if it does. What it returned may be anything, so that reading it may fail."""
    if found is None:
        return None
    if isinstance(found, Veto):
        return clean_text(str(found.reason))
    return clean_text(f"it returned {found!r:.80}, neither None nor a Veto")
