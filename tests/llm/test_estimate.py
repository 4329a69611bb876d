"""The estimate of tokens where nobody counted them."""

import pytest

from stepsnb.llm import ToolSpec, estimate_text, estimate_tokens
from stepsnb.messages import Message, ToolCall, user


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("東京", 2),
        ("カタカナ한국", 6),
        ("東京 is", 3),
        ("éééé", 2),
        ("\udce9", 1),
    ],
)
def test_ideographs_count_one_each_and_other_bytes_a_quarter(text, tokens):
    assert estimate_text(text) == tokens


def test_arguments_and_tools_count_too():
    call = ToolCall(id="x" * 400, name="abcd", arguments="12345678")
    messages = [user("abcd"), Message(role="assistant", tool_calls=(call,), thinking="never sent" * 9)]
    assert estimate_tokens(messages) == 1 + 1 + 2
    tool = ToolSpec("abcd", "efgh", {})
    assert estimate_tokens(messages, [tool]) == 4 + 1 + 1 + 1
