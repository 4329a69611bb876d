"""What providers say a request used, in our disjoint classes, and what it then costs."""

from decimal import Decimal

import pytest

from stepsnb.llm.chunks import decode_chunk, read_usage
from stepsnb.usage import Price, Usage


def test_cached_tokens_are_taken_out_of_the_prompt():
    counts = {"prompt_tokens": 12000, "completion_tokens": 800, "prompt_tokens_details": {"cached_tokens": 9000}}
    assert read_usage(counts) == Usage(input_tokens=3000, cached_input_tokens=9000, output_tokens=800)


def test_usage_with_cache_and_reasoning_costs_each_class_once():
    usage = read_usage(
        {
            "prompt_tokens": 12000,
            "completion_tokens": 800,
            "total_tokens": 12800,
            "prompt_tokens_details": {"cached_tokens": 9000},
            "completion_tokens_details": {"reasoning_tokens": 600},
        }
    )
    assert usage is not None
    assert usage.reasoning_tokens == 600
    price = Price(input=Decimal("2.00"), cache_read=Decimal("0.20"), output=Decimal("8.00"))
    assert price.cost_usd(usage) == Decimal("0.0142")


@pytest.mark.parametrize(
    "cached",
    [
        {"prompt_tokens_details": {"cached_tokens": 60}},
        {"prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40},
        {"cached_tokens": 60},
    ],
    ids=["openai", "deepseek", "moonshot"],
)
def test_each_spelling_of_cached_tokens_is_known(cached):
    usage = read_usage({"prompt_tokens": 100, "completion_tokens": 1, **cached})
    assert usage == Usage(input_tokens=40, cached_input_tokens=60, output_tokens=1)


def test_tokens_written_to_a_cache_are_a_class_of_their_own():
    details = {"cached_tokens": 10, "cache_write_tokens": 100}
    usage = read_usage({"prompt_tokens": 194, "completion_tokens": 2, "prompt_tokens_details": details})
    assert usage == Usage(input_tokens=84, cached_input_tokens=10, cache_write_tokens=100, output_tokens=2)
    assert usage.prompt_tokens == 194


def test_thinking_counted_beside_the_output_is_output():
    usage = read_usage(
        {
            "prompt_tokens": 10120,
            "completion_tokens": 1499,
            "total_tokens": 14428,
            "completion_tokens_details": {"reasoning_tokens": 2809},
        }
    )
    assert (usage.output_tokens, usage.reasoning_tokens) == (1499 + 2809, 2809)


@pytest.mark.parametrize("counts", [None, [], "31", {}, {"prompt_tokens": 0, "completion_tokens": 0}])
def test_nothing_counted_is_none_and_not_zero(counts):
    assert read_usage(counts) is None


def test_odd_counts_do_not_break_a_reply():
    usage = read_usage({"prompt_tokens": 7.0, "completion_tokens": None, "prompt_tokens_details": {"cached_tokens": 9}})
    assert usage == Usage(cached_input_tokens=7)


@pytest.mark.parametrize("many", [1e30, 10**50, 2**64, float("inf")])
def test_count_that_no_record_holds_is_the_most_that_one_does(many):
    assert read_usage({"prompt_tokens": many, "completion_tokens": 1}) == Usage(input_tokens=2**53, output_tokens=1)


def test_count_that_is_no_number_is_none():
    assert read_usage({"prompt_tokens": float("nan"), "completion_tokens": 1}) == Usage(output_tokens=1)


def test_chunk_takes_nulls_and_unknown_fields():
    chunk = decode_chunk(b'{"x": [1], "choices": [{"index": null, "delta": null, "logprobs": {}}], "usage": null}')
    assert chunk.choices is not None
    assert chunk.choices[0].delta is None
