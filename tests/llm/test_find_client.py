"""Finding the client that `source.client` names among the variables."""

import openai
import pytest

from stepsnb.errors import InputError
from stepsnb.llm import find_client


@pytest.fixture
def client():
    with openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="k") as client:
        yield client


def test_client_in_the_variable_is_found(client):
    assert find_client("my_llm", {"my_llm": client}) is client


def test_unknown_variable_is_told_with_the_client_that_was_meant(client):
    with pytest.raises(InputError) as caught:
        find_client("my_lm", {"my_llm": client, "my_lmn": 3})
    assert str(caught.value) == (
        "`source.client: my_lm`: unknown variable `my_lm` (did you mean `my_llm`?); clients here: my_llm; "
        "set it before the run, such as `my_lm = openai.OpenAI()`"
    )


def test_unknown_variable_among_none_is_told():
    with pytest.raises(InputError, match="unknown variable `my_llm`; set it before the run"):
        find_client("my_llm", {})


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("gpt-5", "of type `str`"),
        (openai.OpenAI, "the class `OpenAI`"),
        (openai, "the module `openai`"),
        (print, "of type `builtin_function_or_method`"),
    ],
)
def test_what_is_no_client_is_named(value, what):
    with pytest.raises(InputError) as caught:
        find_client("my_llm", {"my_llm": value})
    assert str(caught.value).startswith(f"`source.client: my_llm`: `my_llm` is {what}, not a client; ")
