"""Every promise is tied to its tests, and every proof to a promise."""

from tests.architecture.laws import LAWS, clauses, complaints, lowered, proofs, with_statuses
from tests.architecture.source import Module, modules, ratchet

SAMPLE = """# a room

[RUN-1.a]
text = "It runs."
status = "planned"

[RUN-1.b]
text = "It stops."
status = "held"
"""


def test_laws_and_tests_agree() -> None:
    statuses = clauses(LAWS.read_text("utf-8"))
    assert not list(complaints(statuses, proofs(modules("tests")), ratchet()["planned_clauses"]))


def test_proofs_are_found_on_functions_classes_and_params() -> None:
    decorator = "la" + "w"
    text = f"@{decorator}('A-1.a', 'A-1.b')\ndef test_x(): ...\nparam(marks={decorator}('A-1.c'))\n"
    assert set(proofs([Module("tests/test_x.py", text)])) == {"A-1.a", "A-1.b", "A-1.c"}


def test_held_clause_without_a_test_is_a_complaint() -> None:
    assert list(complaints({"RUN-1.a": "held"}, {}, 0)) == ["RUN-1.a is held but no test names it"]


def test_planned_clause_with_a_test_is_a_complaint() -> None:
    assert len(list(complaints({"RUN-1.a": "planned"}, {"RUN-1.a": ["t.py"]}, 1))) == 1


def test_unknown_clause_in_a_test_is_a_complaint() -> None:
    assert list(complaints({}, {"RUN-9.z": ["t.py"]}, 0)) == ["t.py: no clause RUN-9.z in docs/laws.toml"]


def test_more_planned_clauses_than_the_ratchet_allows_is_a_complaint() -> None:
    assert len(list(complaints({"RUN-1.a": "planned"}, {}, 0))) == 1


def test_unknown_status_is_a_complaint() -> None:
    assert len(list(complaints({"RUN-1.a": "hoped"}, {}, 0))) == 1


def test_statuses_follow_the_proofs_and_nothing_else_changes() -> None:
    rewritten = with_statuses(SAMPLE, {"RUN-1.a": ["t.py"]})
    assert clauses(rewritten) == {"RUN-1.a": "held", "RUN-1.b": "planned"}
    assert with_statuses(rewritten, {"RUN-1.b": ["t.py"]}) == SAMPLE


def test_the_ratchet_is_lowered_in_tens_and_never_raised() -> None:
    assert lowered("planned_clauses = 320\n", 301) == "planned_clauses = 310\n"
    assert lowered("planned_clauses = 20\n", 301) == "planned_clauses = 20\n"
