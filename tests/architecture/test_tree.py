"""Every rule of the house, over the whole tree."""

import pytest

from tests.architecture import rules
from tests.architecture.cycles import import_cycle
from tests.architecture.documents import broken_anchors, broken_code, broken_links, code_blocks, too_long
from tests.architecture.source import ROOT, modules, ratchet, repository_files
from tests.architecture.words import forbidden_words

WRITTEN = ("src", "tests", "bench", "examples")


@pytest.mark.parametrize("rule", rules.OURS)
def test_rooms_keep_the_rule(rule: rules.Rule) -> None:
    assert not [complaint for module in modules("src") for complaint in rule(module)]


@pytest.mark.parametrize("rule", rules.TESTS)
def test_tests_keep_the_rule(rule: rules.Rule) -> None:
    assert not [complaint for module in modules("tests") for complaint in rule(module)]


@pytest.mark.parametrize("rule", rules.EVERYWHERE)
def test_all_code_keeps_the_rule(rule: rules.Rule) -> None:
    assert not [complaint for module in modules(*WRITTEN) for complaint in rule(module)]


def test_files_stay_small() -> None:
    exceptions = ratchet()["file_lines"]
    assert not [
        complaint for module in modules(*WRITTEN) for complaint in rules.file_size(module, exceptions)
    ]


def test_functions_stay_small() -> None:
    exceptions = ratchet()["function_lines"]
    assert not [
        complaint for module in modules(*WRITTEN) for complaint in rules.function_size(module, exceptions)
    ]


def test_every_exception_of_the_ratchet_exists() -> None:
    sizes = ratchet()
    named = {key.partition("::")[0] for table in ("file_lines", "function_lines") for key in sizes[table]}
    assert not [path for path in named if not (ROOT / path).is_file()]


def test_no_module_imports_itself_through_others() -> None:
    assert not import_cycle(modules("src"))


def test_no_file_names_a_registry_or_a_place_of_one_machine() -> None:
    texts = ((path, (ROOT / path).read_text("utf-8", errors="replace")) for path in repository_files())
    assert not [complaint for path, text in texts for complaint in forbidden_words(path, text)]


@pytest.mark.parametrize("path", [path for path in repository_files() if path.endswith(".md")])
def test_documents_keep_their_promises(path: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    links = broken_links(path, text, lambda target: (ROOT / target).exists())
    assert not [*broken_code(path, text), *links, *too_long(path, text)]
    assert not [*broken_anchors(path, text, lambda target: (ROOT / target).read_text("utf-8"))]


def test_the_readme_opens_with_two_commands_of_one_line_each() -> None:
    run, test = code_blocks((ROOT / "README.md").read_text("utf-8"), "sh")[:2]
    assert run.count("\n") == test.count("\n") == 1
    assert "outlast run" in run
    assert test.endswith("just test\n")
