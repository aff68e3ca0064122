"""Code of the user's that a task names: hooks and workflows, found beside the task file or on the import path."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from outlast.domain.door import in_words
from outlast.domain.errors import CallerMistake
from outlast.domain.hooks import Hook
from outlast.domain.task import TaskDefinition
from outlast.runs.commanded import held_to_commands
from outlast.runs.decide import Workflow
from outlast.runs.workflows import chat, research

BUILT_IN: Final[dict[str, Workflow]] = {"chat": chat.decide, "research": research.decide}


def workflow_of(definition: TaskDefinition) -> Workflow:
    """The workflow a task names, one of a user's own held to what a workflow may ask. Raises CallerMistake (`workflow_not_found`)."""
    known = BUILT_IN.get(definition.workflow)
    if known is not None:
        return known
    found = find_outside(definition.workflow, Path(definition.home), "workflow")
    return held_to_commands(cast("Workflow", found))


def hooks_of(definition: TaskDefinition) -> dict[str, Hook]:
    """The hooks a task names, by the name it gives them. Raises CallerMistake (`hook_not_found`)."""
    named = definition.hooks.values()
    return {name: cast("Hook", find_outside(name, Path(definition.home), "hook")) for name in named}


def find_outside(name: str, home: Path, what: str) -> Any:
    """What `module:function` names, a `workflow` or a `hook`, beside a task file in `home` or on the import path.

    Raises CallerMistake (`workflow_not_found`, `hook_not_found`).
    """
    module_name, _, attribute = name.partition(":")
    module = _module(module_name, home, name, what)
    found = getattr(module, attribute, None) if attribute else None
    if not callable(found):
        raise CallerMistake(
            f"{what}_not_found",
            f"The {what} {name} is not there: {module_name} defines no function {attribute or '(none named)'}.",
            f"Write it as module:function, with the module beside the task file ({home}) or on the import path.",
        )
    return found


def _module(module_name: str, home: Path, name: str, what: str) -> ModuleType:
    """A module beside the task file, else an importable one. The file wins, so that two tasks may have hooks of one name."""
    file = home.joinpath(*module_name.split(".")).with_suffix(".py")
    try:
        return _from_file(file, module_name) if file.is_file() else importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.split(".")[0] and error.name != module_name:
            raise _broken(what, name, error) from error
        detail = f"The {what} {name} is not there: no module {module_name} beside {home}, none to import."
        raise CallerMistake(
            f"{what}_not_found", detail, "Put the file beside the task file, or install the package."
        ) from error
    except (Exception, SystemExit) as error:
        raise _broken(what, name, error) from error


def _from_file(file: Path, module_name: str) -> ModuleType:
    """The module in a file, loaded again when the file has changed."""
    stamp = file.stat().st_mtime_ns
    key = f"outlast_user.{file}"
    known = sys.modules.get(key)
    if known is not None and getattr(known, "__outlast_stamp__", None) == stamp:
        return known
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    module.__dict__["__outlast_stamp__"] = stamp
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[key]
        raise
    return module


def _broken(what: str, name: str, error: Exception | SystemExit) -> CallerMistake:
    detail = f"The {what} {name} cannot be loaded: {in_words(error)}"
    return CallerMistake(f"{what}_not_found", detail, "Mend the module.")
