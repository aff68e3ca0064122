"""Fallbacks and prices as they are configured and pinned."""

import json
from pathlib import Path

import pytest

from outlast.domain.task import Price, TaskDefinition
from outlast.wiring.settings.models import money_doubts, options_of
from outlast.wiring.settings.pin import pin, pinned_settings
from outlast.wiring.settings.task_files import find_task
from outlast.wiring.settings.tree import Settings
from tests.unit.wiring.settings.writing import said_of, settings_of, task_of

ENVIRON = {"KEY": "sk-first", "SPARE_KEY": "sk-spare"}
WITH_FALLBACKS = """
llm:
  provider: openai_compatible
  base_url: https://models.example.com/v1
  api_key: ${KEY}
  model: big
  max_tokens: 500
  price: {input: 3, output: 15}
  fallbacks:
    - {model: small}
    - {base_url: "https://spare.example.com/v1", api_key: "${SPARE_KEY}", model: other, price: {input: 1, output: 2}}
    - {provider: offline}
roles:
  reviewer: {fallbacks: []}
"""


def test_a_fallback_takes_what_it_does_not_say_from_the_model_before_all_others(tmp_path: Path) -> None:
    first, same_place, elsewhere, offline = options_of(settings_of(tmp_path, WITH_FALLBACKS), "executor")
    assert (str(first.model), str(same_place.model), str(elsewhere.model)) == ("big", "small", "other")
    assert same_place.api_key is not None
    assert same_place.api_key.resolve(ENVIRON) == "sk-first"
    assert (same_place.max_tokens, elsewhere.max_tokens) == (500, 500)
    assert offline.provider == "offline"


def test_a_key_goes_to_no_other_address_and_a_price_to_no_other_model(tmp_path: Path) -> None:
    text = WITH_FALLBACKS.replace(', api_key: "${SPARE_KEY}"', "")
    _, same_place, elsewhere, offline = options_of(settings_of(tmp_path, text), "executor")
    assert elsewhere.api_key is None
    assert offline.api_key is None
    assert same_place.price is None


def test_a_role_may_have_fallbacks_of_its_own_or_none(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, WITH_FALLBACKS)
    assert len(options_of(settings, "reviewer")) == 1
    assert len(options_of(settings, "planner")) == 4


def test_a_run_is_pinned_to_its_models_with_their_prices_and_to_no_secret(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, WITH_FALLBACKS, ENVIRON)
    definition = pin(settings, find_task("chat", settings, environ=ENVIRON), ENVIRON)
    role = definition.role("executor")
    assert role.price == Price(input_usd=3, output_usd=15)
    assert [model.model for model in role.fallbacks] == ["small", "other", "offline"]
    assert [model.price for model in role.fallbacks] == [None, Price(input_usd=1, output_usd=2), None]
    assert "sk-" not in json.dumps(definition.settings)
    again = pinned_settings(TaskDefinition(name="x", settings=definition.settings), Settings())
    key = options_of(again, "executor")[2].api_key
    assert key is not None
    assert key.resolve({"SPARE_KEY": "rotated"}) == "rotated"


def test_the_window_of_a_known_model_bounds_the_context_unless_the_configuration_does(tmp_path: Path) -> None:
    known = (
        "llm: {provider: openai_compatible, base_url: 'https://api.deepseek.com/v1', model: deepseek-chat}\n"
    )
    settings = settings_of(tmp_path, known)
    pinned = pin(settings, find_task("chat", settings, environ={}), {})
    assert pinned.context_max_tokens >= 24_000
    assert pinned.context_max_tokens % 3 == 0
    bounded = settings_of(tmp_path, known + "harness: {context: {max_tokens: 9000}}")
    assert pin(bounded, find_task("chat", bounded, environ={}), {}).context_max_tokens == 9000


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("fallbacks: [{modle: x}]", "model"),
        ("fallbacks: small", "list"),
        ("price: {input: -1, output: 2}", "llm.price.input"),
        ("price: free", "llm.price"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, wrong: str, said: str) -> None:
    assert said in said_of(tmp_path, "llm: {" + wrong + "}")


def test_a_bound_on_money_that_may_not_hold_is_told(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, WITH_FALLBACKS, ENVIRON)
    task = task_of(tmp_path, "workflow: chat\nmax_cost: 1")
    (doubt,) = money_doubts(pin(settings, task, ENVIRON), settings)
    assert "small" in doubt
    assert "llm.price" in doubt
    free = task_of(tmp_path, "workflow: chat")
    assert money_doubts(pin(settings, free, ENVIRON), settings) == []
