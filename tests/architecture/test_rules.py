"""Every rule can fail: a bad example of each is refused, and its good neighbour is not."""

import pytest

from tests.architecture import rules
from tests.architecture.cycles import import_cycle
from tests.architecture.documents import broken_anchors, broken_code, broken_links, too_long
from tests.architecture.source import Module
from tests.architecture.words import forbidden_words

DOCUMENTED = '"""Things.\n\nMay import: nothing.\nTo add one: write it.\n"""\n'
DISPATCH = "def apply(event):  # noqa: C901 - dispatch\n    match event:\n        case 1:\n            return run()\n"

CASES = [
    (rules.meaningful_name, "src/outlast/runs/utils.py", "", "src/outlast/runs/decide.py", ""),
    (
        rules.room_says_what_it_is,
        "src/outlast/runs/__init__.py",
        '"""Things."""',
        "src/outlast/runs/__init__.py",
        DOCUMENTED,
    ),
    (
        rules.own_rooms_imported_at_the_top,
        "src/outlast/api/x.py",
        "def f():\n    from outlast.domain import run\n",
        "src/outlast/api/x.py",
        "from outlast.domain import run\ndef f():\n    import mcp\n",
    ),
    (
        rules.no_third_party_below_the_edges,
        "src/outlast/service/x.py",
        "import pydantic.fields\n",
        "src/outlast/adapters/tools/x.py",
        "import pydantic.fields\n",
    ),
    (
        rules.no_clock_below_the_edges,
        "src/outlast/journal/x.py",
        "import datetime\nat = datetime.datetime.now(datetime.UTC)\n",
        "src/outlast/journal/x.py",
        "import time\nat = time.monotonic()\n",
    ),
    (
        rules.no_clock_below_the_edges,
        "src/outlast/runs/x.py",
        "from time import time\n",
        "src/outlast/wiring/x.py",
        "from time import time\n",
    ),
    (
        rules.dataclasses_made_quickly,
        "src/outlast/runs/x.py",
        "from dataclasses import dataclass, field\n",
        "src/outlast/runs/x.py",
        "from dataclasses import field\nfrom outlast.domain.dataclass import dataclass\n",
    ),
    (
        rules.no_sleeping_tests,
        "tests/test_x.py",
        "await asyncio.sleep(0.1)\n",
        "tests/test_x.py",
        "await asyncio.sleep(0)\n",
    ),
    (
        rules.no_sleeping_tests,
        "tests/test_x.py",
        "from time import sleep\nsleep(0)\n",
        "tests/test_x.py",
        "await clock.sleep(3)\n",
    ),
    (
        rules.complexity_exemptions,
        "src/outlast/domain/run.py",
        DISPATCH.replace("return run()", "if event:\n                return run()"),
        "src/outlast/domain/run.py",
        DISPATCH,
    ),
]


@pytest.mark.parametrize(("rule", "bad_path", "bad", "good_path", "good"), CASES)
def test_rule_refuses_the_bad_and_allows_the_good(
    rule: rules.Rule, bad_path: str, bad: str, good_path: str, good: str
) -> None:
    assert list(rule(Module(bad_path, bad)))
    assert not list(rule(Module(good_path, good)))


def test_long_file_is_refused_unless_excepted_at_exactly_its_size() -> None:
    module = Module("src/x.py", "\n" * 450)
    assert list(rules.file_size(module, {}))
    assert not list(rules.file_size(module, {"src/x.py": 450}))
    assert list(rules.file_size(module, {"src/x.py": 451})) == [
        "src/x.py has become smaller: lower its number to 450 in ratchet.toml"
    ]


def test_long_method_is_refused_by_its_full_name() -> None:
    method = "class A:\n    def f(self):\n" + "        x = 1\n" * 60
    assert list(rules.function_size(Module("src/x.py", method), {})) == [
        "src/x.py::A.f has 61 lines, 60 are allowed"
    ]


def test_exception_that_is_no_longer_needed_is_refused() -> None:
    complaints = list(rules.file_size(Module("src/x.py", "\n"), {"src/x.py": 450}))
    assert complaints == ["src/x.py has become smaller: remove its exception in ratchet.toml"]


def test_cycle_through_three_rooms_is_found() -> None:
    texts = {"a": "from outlast.b import f", "b": "import outlast.c", "c": "from outlast import a"}
    cycle = import_cycle(Module(f"src/outlast/{name}.py", text) for name, text in texts.items())
    assert set(cycle) == {"outlast.a", "outlast.b", "outlast.c"}


def test_import_for_type_checking_alone_is_no_cycle() -> None:
    guarded = "if TYPE_CHECKING:\n    import outlast.a"
    pair = [Module("src/outlast/a.py", "import outlast.b"), Module("src/outlast/b.py", guarded)]
    assert not import_cycle(pair)


@pytest.mark.parametrize("word", ["https://pypi" + ".org/simple", "cd /wor" + "k/x", "cat ../share" + "d/x"])
def test_registry_or_place_of_one_machine_is_refused(word: str) -> None:
    assert list(forbidden_words("x.md", f"fine\n{word}\n"))
    assert not list(forbidden_words("x.md", "import from '../ui'; the network/work/ratio; web/src/shared/x"))


def test_broken_block_link_and_length_are_refused() -> None:
    assert list(broken_code("x.md", "```python\ndef\n```\n"))
    assert not list(broken_code("x.md", "```python\nasync with x as y: ...\n```\n"))
    assert list(broken_links("docs/x.md", "[a](../no.md#part)", lambda _: False)) == [
        "docs/x.md links to ../no.md, which is not there"
    ]
    assert list(too_long("docs/decisions/0001-x.md", "\n" * 41))
    assert list(too_long("AGENTS.md", "\n" * 121))


def test_link_to_a_heading_that_is_not_there_is_refused() -> None:
    page = (
        "## The `two` words\n[a](#the-two-words) [b](b.md#one) [c](../d.md#gone)\n```sh\n# [x](#none)\n```\n"
    )
    pages = {"docs/b.md": "# One\n", "d.md": "# Here\n"}
    assert list(broken_anchors("docs/a.md", page, pages.__getitem__)) == [
        "docs/a.md links to #gone, which d.md does not have"
    ]
