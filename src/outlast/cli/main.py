"""Where `outlast` begins: the list of commands without any library, everything else by `dispatch`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from outlast import __version__
from outlast.cli.listing import overview

_DISPATCH: Final = "outlast.cli.dispatch"
_INTERRUPTED: Final = 130


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    sys.exit(answer(sys.argv[1:]))


def answer(tokens: Sequence[str]) -> int:
    """Carry out the command in `tokens`; returns the exit code."""
    if not tokens or tokens[0] in ("--help", "-h", "help"):
        sys.stdout.write(overview())
        return 0
    if tokens[0] == "--version":
        sys.stdout.write(f"outlast {__version__}\n")
        return 0
    # Imported here by name: the list of commands must not pay for the libraries the commands need.
    try:
        code: int = importlib.import_module(_DISPATCH).dispatch(list(tokens))
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return _INTERRUPTED
    return code


if __name__ == "__main__":
    main()
