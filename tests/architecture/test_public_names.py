"""What `import outlast` promises."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import outlast

SDKS = {
    "asyncpg",
    "docker",
    "mcp",
    "numpy",
    "onnxruntime",
    "openai",
    "opentelemetry",
    "redis",
    "torch",
    "uvloop",
}

LOADED = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
IMPORT_EVERY_ROOM = """
import importlib, pkgutil, outlast
for room in pkgutil.iter_modules(outlast.__path__):
    importlib.import_module(f"outlast.{room.name}")
"""


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\n{LOADED}"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def test_version_is_the_installed_one() -> None:
    assert outlast.__version__ == version("outlast")


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = outlast.nonsense


def test_importing_outlast_loads_no_third_party() -> None:
    assert loaded_by("import outlast") - loaded_by("") - sys.stdlib_module_names == {"outlast"}


def test_importing_every_room_loads_no_vendor_sdk() -> None:
    assert not SDKS & loaded_by(IMPORT_EVERY_ROOM)
