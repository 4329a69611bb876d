"""Histories that are mended, taken apart, and built again from what was recorded of them."""

from hypothesis import given

from stepsnb.agent.compaction import split
from stepsnb.agent.history import INTERRUPTED, groups, rebuild_history, sendable
from stepsnb.agent.summary import compacted
from stepsnb.events import Compaction, Tool, TurnFinished
from stepsnb.messages import tool_result, user

from .histories import C1, C2, H07, SYSTEM, Recorded, broken, call, check_sendable, recorded, right, says


@given(right)
def test_right_history_stays_the_same_objects(history):
    mended = sendable(history)
    assert len(mended) == len(history)
    assert all(one is other for one, other in zip(mended, history, strict=True))


@given(broken())
def test_every_history_becomes_sendable_and_then_stays_as_it_is(history):
    mended = sendable(history)
    check_sendable(mended)
    again = sendable(mended)
    assert [id(message) for message in again] == [id(message) for message in mended]


@given(broken())
def test_mending_loses_no_message_of_anybody(history):
    kept = {id(message) for message in sendable(history)}
    assert all(id(message) in kept for message in history if message.role != "tool")


def test_missing_result_says_interrupted():
    first = tool_result(C1, "one")
    assert sendable([SYSTEM, says(None, C1, C2), first]) == [
        SYSTEM,
        says(None, C1, C2),
        first,
        tool_result(C2, INTERRUPTED),
    ]
    assert INTERRUPTED.startswith("interrupted")


def test_result_behind_a_later_message_is_moved_to_its_call():
    late = tool_result(C1, "one")
    assert sendable([says(None, C1), user("wait"), late]) == [says(None, C1), late, user("wait")]


def test_first_of_two_results_counts_and_one_without_a_call_goes():
    one, two, stray = tool_result(C1, "1"), tool_result(C1, "2"), tool_result(call("x"), "3")
    assert sendable([stray, says(None, C1), one, two, stray]) == [says(None, C1), one]


def test_empty_result_is_a_result():
    empty = tool_result(C1, "")
    assert sendable([says(None, C1), empty]) == [says(None, C1), empty]


def test_id_used_again_gets_the_result_that_follows_it():
    one, two = tool_result(C1, "1"), tool_result(C1, "2")
    history = [says(None, C1), one, says(None, C1), two]
    assert sendable(history) == history


def test_late_system_message_comes_first():
    assert sendable([user("hello"), SYSTEM]) == [SYSTEM, user("hello")]


@given(broken())
def test_groups_are_the_history(history):
    assert [message for group in groups(history) for message in group] == history


def test_reply_is_one_group_with_its_results():
    assert [len(group) for group in groups(H07)] == [1, 1, 3, 2, 1, 1]


@given(recorded())
def test_rebuilt_history_is_the_one_the_loop_had(conversation):
    assert rebuild_history(conversation.events) == conversation.history


@given(recorded(), recorded())
def test_rebuilt_history_is_the_one_the_loop_had_after_a_compaction(conversation, later):
    old, recent = split(conversation.history, keep_messages=2)
    summary = "what came before"
    conversation.events.append(Compaction(phase="end", kept=len(recent), summary=summary))
    conversation.history = [*compacted(conversation.history, summary, recent), *later.history[1:]]
    conversation.events += later.events[1:]
    assert rebuild_history(conversation.events) == conversation.history
    assert len(old) + len(recent) > 0


def test_call_without_an_end_is_interrupted_in_what_is_sent():
    conversation = Recorded()
    conversation.add("system", "")
    conversation.reply(None, [C1, C2], ["one", "two"], [1])
    rebuilt = rebuild_history(conversation.events)
    assert [message.content for message in rebuilt[2:]] == ["two"]
    assert [message.content for message in sendable(rebuilt)[2:]] == [INTERRUPTED, "two"]


def test_failed_compaction_changes_nothing():
    conversation = Recorded()
    conversation.add("system", "be brief")
    conversation.events.append(Compaction(phase="end", error="no reply"))
    assert rebuild_history(conversation.events) == conversation.history


def test_reply_that_says_nothing_is_not_part_of_a_history():
    assert rebuild_history([TurnFinished(turn=1, text=" \n"), TurnFinished(turn=2)]) == []


def test_end_of_a_call_nobody_made_is_left_out():
    assert rebuild_history([Tool(phase="end", call_id="c9", result="x")]) == []
