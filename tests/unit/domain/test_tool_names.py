"""Names of servers' tools: safe for every provider, different for different tools, readable where they can be."""

import re

from hypothesis import given
from hypothesis import strategies as st

from outlast.domain.tool_names import listed_name, may_be_of, model_name, split_name

SAFE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAMES = st.text(min_size=1, max_size=90).filter(lambda text: ":" not in text)
NEAR = st.text(alphabet="a_-.", min_size=1, max_size=4)


def test_plain_names_are_joined_and_read_back() -> None:
    assert model_name("jobs", "start_job") == "jobs__start_job"
    assert split_name("jobs:start_job") == ("jobs", "start_job")
    assert split_name("jobs:*") == ("jobs", "*")
    assert split_name("web_search") is None


def test_names_that_cannot_stand_get_a_digest() -> None:
    assert (
        model_name("jobs", "start job") != model_name("jobs", "start.job") != model_name("jobs", "start_job")
    )
    assert model_name("a_", "b") != model_name("a", "_b")
    assert model_name("a__b", "c") != model_name("a", "b__c")


@given(NAMES, NAMES)
def test_every_name_is_safe_and_known_to_be_of_its_server(server: str, tool: str) -> None:
    name = model_name(server, tool)
    assert SAFE.fullmatch(name)
    assert may_be_of(server, name)
    assert may_be_of(server, listed_name(server, tool))


@given(st.tuples(NEAR, NEAR), st.tuples(NEAR, NEAR))
def test_different_tools_have_different_names(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (model_name(*one) == model_name(*other)) == (one == other)
