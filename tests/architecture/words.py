"""Words that no file of the repository may contain: addresses of package registries, places of one machine."""

import re
from collections.abc import Iterator

# Put together from parts, so that this file does not contain them either.
_REGISTRIES = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("yarnpkg", "com"),
)
_PLACES = (r"(?<![\w.])/wor" + "k/", r"\.\./share" + "d/")
_FORBIDDEN = re.compile("|".join([*(rf"\b{name}\.{ending}\b" for name, ending in _REGISTRIES), *_PLACES]))


def forbidden_words(path: str, text: str) -> Iterator[str]:
    """Each forbidden word with the line it stands in."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _FORBIDDEN.search(line):
            yield f"{path}:{number} contains {found[0]!r}"
