"""A library of any size, made of the documents of examples/research: the same text every time.

Beyond the originals come editions of them with other figures, their paragraphs in another order.
"""

import random
import re
from pathlib import Path

ORIGINALS = Path(__file__).resolve().parent.parent / "examples" / "research" / "docs"
QUESTION = "How do tidal lagoons compare with offshore wind on cost and reliability?"


def write_library(folder: Path, documents: int) -> None:
    """Write that many documents into a new folder."""
    folder.mkdir()
    originals = sorted(ORIGINALS.iterdir())
    for number in range(documents):
        original = originals[number % len(originals)]
        edition = number // len(originals)
        name = f"{original.stem}-{edition}{original.suffix}" if edition else original.name
        (folder / name).write_bytes(edited(original, edition))


def edited(original: Path, edition: int) -> bytes:
    """The bytes of an edition; edition 0 is the original. A PDF differs in a comment only."""
    content = original.read_bytes()
    if edition == 0:
        return content
    if original.suffix == ".pdf":
        return content + f"% edition {edition}\n".encode()
    text = re.sub(r"\b\d\d\b", lambda found: str(10 + (int(found[0]) + edition) % 90), content.decode())
    if original.suffix in (".md", ".txt"):
        first, *rest = text.split("\n\n")
        random.Random(f"{original.name} {edition}").shuffle(rest)
        text = "\n\n".join([first, *rest])
    return text.encode()
