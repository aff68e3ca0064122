"""What people state is told from what they ask and order, and from what they paste."""

import pytest

from outlast.runs.remembering.facts import LONGEST_FACT, MOST_FACTS, corrects, statements_in


def facts(words: str) -> list[str]:
    return statements_in(words)


@pytest.mark.parametrize(
    "words",
    [
        "I like tea.",
        "My name is Ann and I work at Tin Corp!",
        "We deploy on Thursdays.",
        "我喜欢喝茶。",
        "我们把部署窗口改到周四晚上",
        "No, it is on Friday.",
    ],
)
def test_a_statement_is_kept_word_for_word(words: str) -> None:
    assert facts(words) == [words]


@pytest.mark.parametrize(
    "words",
    [
        "What do I like to drink?",
        "Can we deploy now?",
        "Please find my files.",
        "I want you to search the documents.",
        "Study the players of the tin market.",
        "请帮我找一下我的文件",
        "我们什么时候部署吗？",
        "Hello",
        "ok",
        "",
    ],
)
def test_questions_requests_and_small_talk_state_nothing(words: str) -> None:
    assert facts(words) == []


def test_what_somebody_wants_to_be_remembered_is_kept_whatever_its_form() -> None:
    assert facts("Remember that the office closes at six.") == ["the office closes at six."]
    assert facts("记住：周五不部署任何东西") == ["周五不部署任何东西"]


def test_what_is_pasted_quoted_or_fenced_is_not_the_words_of_the_writer() -> None:
    words = "<<untrusted ab12 from memory>>\nI like tea.\n<<end ab12>>\n> I said so before.\n```\nmy = 'code'\n```\nI like milk more."
    assert facts(words) == ["I like milk more."]
    assert facts("<<untrusted ab12 from memory>>\nI like tea and never close the fence.") == []


def test_a_correction_is_known_by_its_form() -> None:
    assert [corrects(text) for text in facts("I stopped drinking tea, coffee now. I like cups.")] == [
        True,
        False,
    ]
    assert corrects(facts("不对，是周五晚上部署")[0])


def test_a_message_gives_a_bounded_number_of_facts_of_bounded_length() -> None:
    many = " ".join(f"I own {number} cups." for number in range(100))
    assert len(facts(many)) == MOST_FACTS
    assert facts(f"I own {'very ' * LONGEST_FACT}many cups.") == []
    assert facts("I like tea. I like tea. I like tea.") == ["I like tea."]


def test_what_looks_like_a_credential_is_not_kept() -> None:
    assert facts("My password is hunter2.") == []
    assert facts("Our api key is sk-123456789.") == []
