"""The same call with the same result, again and again."""

import json

from hypothesis import given
from hypothesis import strategies as st

from stepsnb.agent.loop_detection import Judgement, LoopDetector

from .histories import call

FINE, WARN, STUCK = Judgement.FINE, Judgement.WARN, Judgement.STUCK


def judge_all(turns):
    """Judge turns of (arguments, result) pairs of one tool."""
    detector = LoopDetector()
    return [detector.judge([(call("c", arguments=given), result) for given, result in turn]) for turn in turns]


def test_sixth_copy_warns_and_the_seventh_is_stuck():
    assert judge_all([[("{}", "x")]] * 7) == [FINE] * 5 + [WARN, STUCK]


def test_warning_names_tool_and_count():
    detector = LoopDetector()
    for _ in range(6):
        detector.judge([(call("a", "other"), "new"), (call("b", "search_files"), "same")] if _ else [])
    detector.judge([(call("b", "search_files"), "same")])
    assert (detector.tool, detector.count) == ("search_files", 6)


def test_result_that_differs_never_counts():
    assert set(judge_all([[("{}", str(n))] for n in range(40)])) == {FINE}


def test_arguments_that_differ_never_count():
    assert set(judge_all([[(json.dumps({"n": n}), "x")] for n in range(40)])) == {FINE}


def test_tool_that_differs_never_counts():
    detector = LoopDetector()
    assert {detector.judge([(call("c", f"tool_{n}"), "x")]) for n in range(40)} == {FINE}


def test_arguments_are_compared_as_values():
    written = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', '{ "b" : 2, "a" : 1 }']
    assert judge_all([[(written[n % 3], "x")] for n in range(6)])[-1] == WARN


def test_arguments_that_are_no_json_are_compared_as_text():
    assert judge_all([[("{broken", "x")]] * 6)[-1] == WARN
    assert set(judge_all([[("{broken" + " " * n, "x")] for n in range(12)])) == {FINE}


def test_name_and_arguments_do_not_run_into_one_another():
    detector = LoopDetector()
    for _ in range(5):
        detector.judge([(call("c", "ab", "c"), "x")])
    assert detector.judge([(call("c", "a", "bc"), "x")]) == FINE


def test_identical_calls_of_one_reply_count_each():
    assert judge_all([[("{}", "x")] * 6]) == [WARN]


def test_one_reply_is_warned_of_before_it_is_stuck():
    assert judge_all([[("{}", "x")] * 30, [("{}", "x")]]) == [WARN, STUCK]


def test_copies_beyond_the_window_are_forgotten():
    fresh = [[("{}", str(n))] for n in range(9)]
    assert set(judge_all([[("{}", "x")] * 5, *fresh, [("{}", "x")], [("{}", "x")]])) == {FINE}


def test_warning_that_was_heeded_is_not_the_end():
    other = [[("{}", str(n))] for n in range(12)]
    assert judge_all([*[[("{}", "x")]] * 6, *other, [("{}", "x")]])[6:] == [FINE] * 13


def test_over_the_limit_once_more_within_the_window_is_stuck():
    other = [[("{}", str(n))] for n in range(3)]
    assert judge_all([*[[("{}", "x")]] * 6, *other, [("{}", "x")]])[6:] == [FINE] * 3 + [STUCK]


def test_turn_without_calls_takes_no_place_in_the_window():
    detector = LoopDetector()
    for _ in range(6):
        judged = detector.judge([(call("c"), "x")])
        for _ in range(10):
            assert detector.judge([]) == FINE
    assert judged == WARN


def test_lone_surrogates_are_judged():
    assert judge_all([[('{"a": "\ud800"}', "\udfff")]] * 6)[-1] == WARN


def test_arguments_nested_beyond_reason_are_judged():
    assert judge_all([[("[" * 100_000, "x")]] * 6)[-1] == WARN


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=30))
def test_counts_are_those_of_the_last_ten_turns_with_calls(turns):
    detector, seen = LoopDetector(), []
    for turn in turns:
        judged = detector.judge([(call("c"), result) for result in turn])
        seen = [*seen, turn][-10:] if turn else seen
        most = max((sum(past.count(result) for past in seen) for result in turn), default=0)
        assert (judged != FINE) == (most > 5)
        assert judged == FINE or detector.count == most
