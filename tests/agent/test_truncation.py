"""Servers that cut what they are sent, and reports that only look as if they did."""

import pytest

from stepsnb.agent.compaction import SizeMeter
from stepsnb.agent.truncation import TruncationDetector
from stepsnb.messages import tool_result, user

from .histories import SYSTEM, call, says

ENGLISH = "The harbour was quiet that morning, and nobody had seen the second boat leave before the fog came in. "


def judge(text, reported, detector=None):
    history = [SYSTEM, user(text)]
    return (detector or TruncationDetector()).judge(history, SizeMeter().measure(history), reported)


def test_report_below_half_of_what_was_sent_is_a_cut():
    assert judge(ENGLISH * 400, 4_096)


@pytest.mark.parametrize(
    "text", [ENGLISH * 400, "def f(x):\n    return x + 1\n\n" * 800, '{"a": 1, "b": [2, 3]},\n' * 900]
)
def test_cut_is_seen_in_any_common_kind_of_text(text):
    assert judge(text, 500)


@pytest.mark.parametrize("share", [0.6, 0.8, 1.0, 1.4])
def test_report_near_the_estimate_is_none(share):
    text = ENGLISH * 400
    assert not judge(text, int(SizeMeter().measure([user(text)]) * share))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (" " * 50_000, 600),
        ("\n" * 50_000, 800),
        ("=" * 50_000, 800),
        ("_" * 50_000, 800),
        ("internationalization " * 2_400, 2_400),
        ("hello " * 8_300, 8_300),
        (("x" + " " * 79) * 600, 1_300),
        ("+----------------------------------------+\n" * 1_200, 2_600),
    ],
    ids=["blanks", "lines", "rule", "underscores", "long word", "short word", "columns", "table"],
)
def test_text_the_estimate_overrates_is_no_cut(text, tokens):
    assert not judge(text, tokens)


def test_languages_with_few_tokens_a_byte_are_no_cut():
    hindi, chinese = "नमस्ते दुनिया यह एक परीक्षण है ", "我们明天早上一起去图书馆看书。"
    assert not judge(hindi * 300, int(SizeMeter().measure([user(hindi * 300)]) * 0.4))
    assert not judge(chinese * 300, int(SizeMeter().measure([user(chinese * 300)]) * 0.45))


def test_small_request_is_never_compared_with_its_estimate():
    assert not judge(ENGLISH * 70, 100)


def test_arguments_and_results_count_as_sent():
    made = call("c1", arguments=ENGLISH * 200)
    history = [SYSTEM, user("go"), says(None, made), tool_result(made, ENGLISH * 200)]
    assert TruncationDetector().judge(history, SizeMeter().measure(history), 2_048)


@pytest.mark.parametrize("reported", [None, 0])
def test_nothing_follows_from_a_missing_report(reported):
    assert not judge(ENGLISH * 400, reported)


def test_report_below_an_earlier_one_is_a_cut():
    detector = TruncationDetector()
    assert not judge("a", 1_500, detector)
    assert judge("a", 900, detector)


def test_report_a_little_below_an_earlier_one_is_none():
    detector = TruncationDetector()
    assert [judge("a", reported, detector) for reported in (1_500, 1_400, 200_000, 190_000)] == [False] * 4


def test_small_reports_that_fall_are_none():
    detector = TruncationDetector()
    assert [judge("a", reported, detector) for reported in (90, 10, 5)] == [False] * 3


def test_fall_behind_a_compaction_is_none():
    detector = TruncationDetector()
    judge("a", 9_000, detector)
    detector.reset()
    assert not judge("a", 2_000, detector)


def test_fall_without_the_tools_is_none():
    detector = TruncationDetector()
    judge("a", 9_000, detector)
    assert not detector.judge([SYSTEM], 10, 500, with_all_tools=False)


def test_it_is_said_once():
    detector = TruncationDetector()
    assert [judge(ENGLISH * 400, 4_096, detector) for _ in range(3)] == [True, False, False]
    detector.reset()
    assert not judge(ENGLISH * 400, 4_096, detector)
