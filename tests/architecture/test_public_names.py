"""What `import outlast` promises."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import outlast

VENDORS = ("httpx2", "pydantic", "rich", "cyclopts", "lxml", "pypdfium2", "jsonschema_rs", "structlog")


def test_version_is_the_installed_one() -> None:
    assert outlast.__version__ == version("outlast")


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = outlast.nonsense


def test_importing_outlast_loads_no_third_party() -> None:
    listing = "import sys, outlast; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", listing], check=True, capture_output=True, text=True)
    assert not set(VENDORS) & set(loaded.stdout.split())
