"""Ties docs/laws.toml to the tests: which clauses are proven, and by whom. Run it with `just laws`."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping

from tests.architecture.source import RATCHET, ROOT, Module, modules, ratchet

LAWS = ROOT / "docs/laws.toml"

_ENTRY = re.compile(r'^\[(?P<id>[^\]\n]+)\]\n(?P<text>text = .*\n)status = "\w+"$', re.MULTILINE)


def clauses(laws_text: str) -> dict[str, str]:
    """The status of every clause, by its id."""
    requirements = tomllib.loads(laws_text)
    return {
        f"{req}.{letter}": law["status"] for req, laws in requirements.items() for letter, law in laws.items()
    }


def proofs(tests: Iterable[Module]) -> dict[str, list[str]]:
    """The test files that name a clause with `law(...)`, by clause id."""
    found: dict[str, list[str]] = {}
    for module in tests:
        for clause_id in _named_in(module):
            found.setdefault(clause_id, []).append(module.path)
    return found


def _named_in(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Name(id="law"), args=args):
                yield from (
                    arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                )


def complaints(
    statuses: Mapping[str, str], proven: Mapping[str, list[str]], planned_at_most: int
) -> Iterator[str]:
    """What is wrong between the laws and the tests; nothing when they agree."""
    for clause_id, paths in proven.items():
        if clause_id not in statuses:
            yield f"{paths[0]}: no clause {clause_id} in docs/laws.toml"
    for clause_id, status in statuses.items():
        match status, clause_id in proven:
            case ("held", True) | ("planned", False):
                pass
            case "held", False:
                yield f"{clause_id} is held but no test names it"
            case "planned", True:
                yield f"{clause_id} is planned but {proven[clause_id][0]} proves it: run `just laws`"
            case _:
                yield f"{clause_id} has an unknown status {status!r}"
    planned = sum(status == "planned" for status in statuses.values())
    if planned > planned_at_most:
        yield f"{planned} clauses are planned, the ratchet allows {planned_at_most}"


def with_statuses(laws_text: str, proven: Mapping[str, object]) -> str:
    """The laws with every status rewritten from the proofs; texts, order and comments stay."""

    def entry(found: re.Match[str]) -> str:
        status = "held" if found["id"] in proven else "planned"
        return f'[{found["id"]}]\n{found["text"]}status = "{status}"'

    return _ENTRY.sub(entry, laws_text)


def lowered(ratchet_text: str, planned: int) -> str:
    """The ratchet with its number of planned clauses lowered to the next ten; it is never raised."""
    allowed: int = tomllib.loads(ratchet_text)["planned_clauses"]
    number = min(allowed, -(-planned // 10) * 10)
    return re.sub(r"^planned_clauses = \d+$", f"planned_clauses = {number}", ratchet_text, flags=re.MULTILINE)


def main() -> None:
    """Rewrite docs/laws.toml and the ratchet from the tests, and say how many clauses are held."""
    proven = proofs(modules("tests"))
    LAWS.write_text(with_statuses(LAWS.read_text("utf-8"), proven), "utf-8")
    statuses = clauses(LAWS.read_text("utf-8"))
    planned = sum(status == "planned" for status in statuses.values())
    RATCHET.write_text(lowered(RATCHET.read_text("utf-8"), planned), "utf-8")
    print(f"{len(statuses) - planned} of {len(statuses)} clauses held")
    for complaint in complaints(statuses, proven, ratchet()["planned_clauses"]):
        print(f"  {complaint}")


if __name__ == "__main__":
    main()
