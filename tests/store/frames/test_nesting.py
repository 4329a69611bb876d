import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.store.frames.nesting import Entry, nested_order


def order(*entries: Entry, before_call: bool = True) -> list[int]:
    return nested_order(entries, before_call=before_call)


def test_conversations_stand_one_after_the_other() -> None:
    assert order(Entry("a"), Entry("b"), Entry("a")) == [0, 2, 1]


@pytest.mark.parametrize(("before_call", "expected"), [(True, [0, 2, 1, 3]), (False, [0, 1, 2, 3])])
def test_a_sub_agent_stands_at_the_call_it_answers(before_call: bool, expected: list[int]) -> None:
    entries = [Entry("a"), Entry("a", call_id="c1"), Entry("child", "a", "c1"), Entry("a")]

    assert order(*entries, before_call=before_call) == expected


def test_of_calls_with_one_id_the_one_that_ended_next_is_meant() -> None:
    first, second = Entry("a", call_id="c"), Entry("a", call_id="c")

    assert order(first, Entry("child", "a", "c"), second) == [0, 1, 2]
    assert order(Entry("child", "a", "c"), first, second) == [0, 1, 2]


def test_sub_agents_of_sub_agents_nest_too() -> None:
    entries = [
        Entry("grandchild", "child", "c"),
        Entry("a"),
        Entry("child", "a", "c"),
        Entry("child", "a", "c", call_id="c"),
        Entry("a", call_id="c"),
    ]

    assert order(*entries) == [1, 2, 0, 3, 4]


@pytest.mark.parametrize("call_id", [None, "gone"])
def test_one_that_names_no_call_goes_to_where_it_began(call_id: str | None) -> None:
    assert order(Entry("a"), Entry("child", "a", call_id), Entry("a")) == [0, 1, 2]
    assert order(Entry("a"), Entry("child", "a", call_id)) == [0, 1]
    assert order(Entry("child", "a", call_id), Entry("a")) == [0, 1]


def test_one_whose_parent_has_no_row_stands_on_its_own() -> None:
    assert order(Entry("child", "gone", "c"), Entry("a")) == [0, 1]


_names = st.sampled_from(["a", "b", "c"])


@given(
    st.lists(st.builds(Entry, _names, st.none() | _names, st.none() | _names, st.none() | _names), max_size=20),
    st.booleans(),
)
def test_every_row_is_there_once_whatever_a_record_says_about_itself(entries: list[Entry], before_call: bool) -> None:
    assert sorted(nested_order(entries, before_call=before_call)) == list(range(len(entries)))


def test_nesting_may_be_as_deep_as_it_likes() -> None:
    entries = [Entry(str(i), str(i - 1), "c", "c") for i in range(3_000)]

    assert order(*entries, before_call=False) == list(range(3_000))
