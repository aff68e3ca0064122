"""`python -m tests.golden [NAME...]`: write the golden journals that are not there yet.

A journal that was released is never written again: it proves that its version stays readable.
"""

import asyncio
import sys

from tests.golden.book import FOLDER, write
from tests.golden.scenarios import SCENARIOS


async def main(names: list[str]) -> None:
    for name in names or SCENARIOS:
        if not (FOLDER / f"{name}.jsonl").exists():
            sys.stdout.write(f"{write(name, await SCENARIOS[name]())}\n")


asyncio.run(main(sys.argv[1:]))
