from decimal import Decimal

import pytest

from stepsnb.view.words import (
    argument_summary,
    cost_words,
    count_words,
    duration_words,
    pretty_arguments,
    size_words,
    tokens_words,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.004, "4 ms"),
        (0.42, "0.4 s"),
        (2.0, "2 s"),
        (9.96, "10 s"),
        (59.6, "1 min 00 s"),
        (82, "1 min 22 s"),
        (185, "3 min 05 s"),
        (7_500, "2 h 05 min"),
    ],
)
def test_durations_are_said_in_the_unit_that_fits(seconds, words):
    assert duration_words(seconds) == words


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 bytes"), (1, "1 byte"), (412, "412 bytes"), (3_100, "3.1 KB"), (2_000_000, "2.0 MB")]
)
def test_sizes_are_said_in_the_unit_that_fits(size, words):
    assert size_words(size) == words


def test_counts_agree_with_their_noun():
    assert count_words(1, "turn") == "1 turn"
    assert count_words(1_200, "turn") == "1,200 turns"


@pytest.mark.parametrize(
    ("cost_usd", "unpriced", "priced", "words"),
    [
        ("0.1181", 0, 3, "$0.118"),
        ("0.0142", 0, 1, "$0.014"),
        ("0.00042", 0, 1, "$0.00042"),
        ("0", 0, 1, "$0"),
        ("12.5", 1, 2, "$12.500 + 1 unpriced"),
        ("0", 2, 0, "unpriced"),
        ("0", 0, 0, ""),
    ],
)
def test_a_cost_says_what_has_no_known_price(cost_usd, unpriced, priced, words):
    assert cost_words(Decimal(cost_usd), unpriced, priced) == words


def test_tokens_name_the_cached_share_when_there_is_one():
    assert tokens_words(21_940, 58) == "21,940 tokens (58% cached)"
    assert tokens_words(300, None) == "300 tokens"
    assert tokens_words(0, None) == ""


@pytest.mark.parametrize(
    ("arguments", "summary"),
    [
        ('{"path": "CHANGELOG.md"}', "CHANGELOG.md"),
        ('{"path": ".", "pattern": "schema_version"}', '"schema_version"'),
        ('{"path": "log/day1.md", "text": "tide"}', "log/day1.md"),
        ('{"command": "ls\\n  -l"}', "ls -l"),
        ('{"city": "Tromsø"}', '"Tromsø"'),
        ('{"limit": 3}', '{"limit": 3}'),
        ("{}", ""),
        ("", ""),
        ("not json\x1b[2J", "not json␛[2J"),
        ("[1]", "[1]"),
    ],
)
def test_a_call_is_summed_up_by_its_most_telling_argument(arguments, summary):
    assert argument_summary(arguments) == summary


def test_long_arguments_are_laid_out_on_lines_of_their_own():
    assert pretty_arguments('{"a":1}') == '{"a": 1}'
    assert pretty_arguments('{"text": "' + "x" * 100 + '"}').startswith('{\n  "text": "x')
    assert pretty_arguments("{broken") == "{broken"
