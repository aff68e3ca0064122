"""Where a tool's code is, and how it is loaded: in this process, or again in a child process."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake

_FOLDER_PREFIX: Final = "outlast_tool_file_"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a class or function is found: its module, the file of the module if it has one, its name in there."""

    module: str
    path: str | None
    qualname: str


def origin_of(target: Any) -> Origin:
    """Where `target` can be found by another process.

    Raises CallerMistake (`invalid_tool`) for what is made inside a function: no other process can find that.
    """
    if "<" in target.__qualname__:
        raise CallerMistake(
            "invalid_tool",
            f"{target.__qualname__} is a plain def inside a function, so a process of its own cannot find it.",
            "Move it to the top of a module, or write it as async def.",
        )
    path = getattr(sys.modules.get(target.__module__), "__file__", None)
    if target.__module__ == "__main__" and not _is_guarded(path):
        raise CallerMistake(
            "invalid_tool",
            f"{target.__qualname__} is a plain def in the script that is running; loading it in a process of its own "
            "would run the script again.",
            'Put what the script does under `if __name__ == "__main__":`, or write the tool as async def.',
        )
    return Origin(target.__module__, path, target.__qualname__)


def load(origin: Origin) -> Any:
    """The class or function at `origin`, its module imported if need be.

    Raises CallerMistake (`tool_not_loadable`).
    """
    module = _module(origin)
    try:
        return reduce(getattr, origin.qualname.split("."), module)
    except AttributeError as error:
        raise CallerMistake(
            "tool_not_loadable",
            f"{origin.path or origin.module} defines no {origin.qualname}.",
            "Name a class or function at the top of the module.",
        ) from error


def load_file(path: Path) -> ModuleType:
    """The module in the file at `path`, imported once for each content of the file.

    The file's folder joins the end of the import path, so that a tool may import its neighbours. Raises
    CallerMistake (`tool_not_loadable`) with what the import raised.
    """
    try:
        digest = hashlib.sha256(bytes(path.resolve()) + path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise _not_loadable(str(path), error) from error
    return _file_as(f"{_FOLDER_PREFIX}{path.stem}_{digest}", path)


def _module(origin: Origin) -> ModuleType:
    is_file_only = origin.module == "__main__" or origin.module.startswith(_FOLDER_PREFIX)
    if not is_file_only or (origin.module in sys.modules and origin.module != "__main__"):
        try:
            return importlib.import_module(origin.module)
        except ModuleNotFoundError as error:
            if origin.path is None or error.name is None or not origin.module.startswith(error.name):
                raise _not_loadable(origin.module, error) from error
        except (Exception, SystemExit) as error:
            raise _not_loadable(origin.module, error) from error
    if origin.path is None:
        raise _not_loadable(origin.module, FileNotFoundError("it has no file"))
    name = "__outlast_main__" if origin.module == "__main__" else origin.module
    return _file_as(name, Path(origin.path))


def _is_guarded(path: str | None) -> bool:
    if path is None:
        return False
    top = ast.parse(Path(path).read_bytes()).body
    return any(isinstance(part, ast.If) and "__name__" in ast.dump(part.test) for part in top)


def _file_as(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _not_loadable(str(path), ImportError("it is no Python file"))
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _not_loadable(str(path), error) from error
    return module


def _not_loadable(where: str, error: Exception | SystemExit) -> CallerMistake:
    return CallerMistake(
        "tool_not_loadable",
        f"{where} cannot be imported: {type(error).__name__}: {error}.",
        "Correct the file, or take the tool out of the task.",
    )
