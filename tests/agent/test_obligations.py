"""What a conversation owes, and how that shapes the next reply."""

from hypothesis import given
from hypothesis import strategies as st

from stepsnb.agent import Obligations, OwedCall, missing_calls
from stepsnb.llm import Choice
from stepsnb.settings import MAX_FORCED_CALLS_IGNORED, MAX_NUDGES


def test_required_tool_is_forced_once_the_model_tries_to_finish_without_it():
    owed = Obligations(required=["ask_user"])
    assert owed.choice() == Choice()
    assert owed.remind().text == (
        "You are trying to finish, but `ask_user` has to succeed first. Call it now, then finish."
    )
    assert owed.choice() == Choice(tools=("ask_user",), must_call=True)


def test_required_tool_is_forced_from_the_start_when_replies_are_constrained():
    assert Obligations(required=["ask_user"], is_constrained=True).choice().tools == ("ask_user",)


def test_required_tool_stays_owed_until_a_call_succeeded():
    owed = Obligations(required=["ask_user"])
    owed.record("ask_user", {}, ok=False)
    assert owed.required == ("ask_user",)
    owed.record("ask_user", {}, ok=True)
    assert (owed.required, owed.remind()) == ((), None)


def test_required_tool_ignored_too_often_ends_the_conversation_naming_it():
    owed = Obligations(required=["ask_user"])
    reminders = [owed.remind() for _ in range(MAX_FORCED_CALLS_IGNORED + 1)]
    assert all(reminder.text for reminder in reminders[:-1])
    assert (reminders[-1].text, reminders[-1].failure) == (None, "required tool `ask_user` never succeeded")


def test_files_and_calls_are_put_to_the_model_together():
    owed = Obligations(
        files=["report/a.md"], calls=[OwedCall("read_file", {"path": "d/x"})], nudge=True, has_file=lambda _: False
    )
    text = owed.remind().text
    assert "read_file(path='d/x')" in text
    assert "report/a.md" in text


def test_nudges_end_after_five():
    owed = Obligations(files=["report/a.md"], nudge=True, has_file=lambda _: False)
    assert [owed.remind() is None for _ in range(MAX_NUDGES + 1)] == [False] * MAX_NUDGES + [True]


def test_without_nudge_nothing_is_put_to_the_model():
    assert Obligations(files=["report/a.md"], has_file=lambda _: False).remind() is None


def test_constrained_replies_are_held_to_the_owed_call_then_to_the_owed_files():
    there = set()
    owed = Obligations(
        files=["r/a.md", "r/b.md"],
        calls=[OwedCall("read_file", {"path": "d/x"})],
        nudge=True,
        has_file=there.__contains__,
        is_constrained=True,
        tools=["read_file", "write_file"],
    )
    assert owed.choice() == Choice()
    owed.remind()
    assert owed.choice() == Choice(tools=("read_file",), must_call=True, arguments={"read_file": {"path": "d/x"}})
    owed.record("read_file", {"path": "d/x"}, ok=True)
    there.add("r/a.md")
    pinned = {"path": ["r/b.md"], "append": False}
    assert owed.choice() == Choice(tools=("write_file",), must_call=True, arguments={"write_file": pinned})
    there.add("r/b.md")
    assert owed.choice() == Choice()


def test_constrained_replies_are_not_held_to_what_the_step_does_not_nudge():
    owed = Obligations(files=["r/a"], has_file=lambda _: False, is_constrained=True, tools=["write_file"])
    owed.remind()
    assert owed.choice() == Choice()


def test_owed_files_do_not_force_a_tool_that_was_not_granted():
    owed = Obligations(files=["r/a"], nudge=True, has_file=lambda _: False, is_constrained=True, tools=["list_dir"])
    owed.remind()
    assert owed.choice() == Choice()


def test_constrained_model_that_goes_in_a_circle_is_left_what_it_owes_and_then_its_answer():
    there = set()
    owed = Obligations(
        files=["r/a"], nudge=True, has_file=there.__contains__, is_constrained=True, tools=["list_dir", "write_file"]
    )
    owed.record("list_dir", {}, ok=True, result="a")
    owed.record("list_dir", {}, ok=True, result="a, b")
    assert owed.choice() == Choice()
    owed.record("list_dir", {}, ok=True, result="a, b")
    assert owed.choice().tools == ("write_file",)
    there.add("r/a")
    assert owed.choice() == Choice(may_call=False)


def test_model_with_native_tool_calls_may_repeat_itself():
    owed = Obligations()
    for _ in range(3):
        owed.record("list_dir", {}, ok=True, result="a")
    assert owed.choice() == Choice()


def test_owed_arguments_are_compared_as_texts():
    assert OwedCall("page", {"n": "3", "deep": "true"}).matches("page", {"n": 3, "deep": True, "more": 1})
    assert not OwedCall("page", {"n": "3"}).matches("page", {"n": 4})
    assert not OwedCall("page", {"n": "3"}).matches("page", {})


def test_arguments_that_are_no_valid_unicode_or_very_large_are_compared_too():
    owed = Obligations(calls=[OwedCall("page", {"n": "3"})], nudge=True)
    owed.record("page", {"n": 10**40, "deep": ["\ud800", float("nan")]}, ok=True)
    assert owed.remind().owed == ["page(n='3')"]


def test_calls_in_another_order_leave_the_later_one_owed():
    wanted = [OwedCall("a"), OwedCall("b")]
    assert missing_calls(wanted, [("b", {}), ("a", {})]) == [OwedCall("b")]


@given(st.lists(st.sampled_from("abc"), max_size=8), st.data())
def test_any_subsequence_of_what_was_made_owes_nothing(made, data):
    keep = data.draw(st.lists(st.booleans(), min_size=len(made), max_size=len(made)))
    wanted = [OwedCall(name) for name, kept in zip(made, keep, strict=True) if kept]
    assert missing_calls(wanted, [(name, {}) for name in made]) == []
