"""Long conversations give way to a summary, never to a broken history."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.agent.compaction import (
    Budget,
    SizeMeter,
    budget_of,
    compact,
    split,
    summary_request,
)
from stepsnb.agent.history import INTERRUPTED, groups, sendable
from stepsnb.agent.summary import compacted, is_summary, summary_of
from stepsnb.errors import ProviderError
from stepsnb.llm import ToolSpec, estimate_tokens
from stepsnb.messages import Message, system, tool_result, user
from stepsnb.tools.spill import spill
from stepsnb.workspace import Root

from .histories import C1, C2, H07, SYSTEM, broken, call, check_sendable, right, says

BIG = "A line of the log that says what happened.\n" * 400


class Summarizer:
    """Stands in for the model that is asked for summaries, and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.requests: list[list[Message]] = []
        self._replies = list(replies)

    async def __call__(self, request: list[Message]) -> str:
        self.requests.append(request)
        return self._replies.pop(0) if self._replies else f"summary {len(self.requests)}"


def budget(tokens: int) -> Budget:
    return budget_of(compact_after_tokens=tokens, window=None, source="")


def small_window(tokens: int) -> Budget:
    return budget_of(compact_after_tokens=None, window=tokens, source="server")


def turns(count: int, size: int = 400) -> list[Message]:
    """A task, and `count` replies that each read something of `size` characters."""
    history = [SYSTEM, user("sort the logs")]
    for n in range(count):
        made = call(f"r{n}", arguments=f'{{"path": "log{n}.txt"}}')
        history += [says(None, made), tool_result(made, f"log{n} " + "x" * size)]
    return history


def last_user(history: list[Message]) -> Message | None:
    return next((message for message in reversed(history) if message.role == "user" and not is_summary(message)), None)


@pytest.mark.parametrize("keep", range(1, 9))
@pytest.mark.parametrize("lost", [None, "c2"])
def test_each_length_of_the_kept_tail_leaves_a_sendable_history(keep, lost):
    history = sendable([message for message in H07 if lost is None or message.tool_call_id != lost])
    _, recent = split(history, keep_messages=keep)
    short = compacted(history, "what happened", recent)

    check_sendable(short)
    assert short[0] is SYSTEM
    assert user("go on") in short
    assert len(recent) >= keep
    sent = [message.content for message in short if message.tool_call_id == "c2"]
    assert sent in ([], [INTERRUPTED if lost else "two"])
    assert bool(sent) == (keep >= 5)


@given(right, st.integers(1, 30))
def test_split_by_messages_takes_whole_groups_and_loses_nothing(history, keep):
    old, recent = split(history, keep_messages=keep)
    assert old + recent == history[1:]
    assert len(recent) >= min(keep, len(history) - 1)
    assert groups(old) + groups(recent) == groups(history[1:])


@given(right, st.integers(0, 200))
def test_split_by_tokens_keeps_no_more_than_fits_but_the_newest_group(history, keep):
    old, recent = split(history, keep_tokens=keep)
    assert old + recent == history[1:]
    assert groups(old) + groups(recent) == groups(history[1:])
    assert estimate_tokens(recent) <= keep or len(groups(recent)) == 1


@given(right, st.integers(1, 30), st.text(max_size=30))
def test_compacted_history_keeps_system_and_last_user_text(history, keep, summary):
    _, recent = split(history, keep_messages=keep)
    short = compacted(history, summary, recent)
    check_sendable(short)
    assert short[0] is history[0]
    assert summary_of(short) == summary
    assert last_user(short) is last_user(history)
    assert short[len(short) - len(recent) :] == recent


@given(broken(), st.integers(1, 60))
async def test_compaction_of_any_history_is_sendable_and_keeps_the_last_user_text(history, tokens):
    done = await compact(history, budget(tokens), Summarizer(), force=True)
    if done is not None:
        check_sendable(done.history)
        assert last_user(done.history) is last_user(sendable(history))
        assert (
            done.history[len(done.history) - done.kept :]
            == split(sendable(history), keep_tokens=budget(tokens).keep_tokens)[1]
        )


def test_history_without_a_summary_has_none():
    assert summary_of([SYSTEM, user("write a <conversation_summary>, please </conversation_summary>")]) is None
    assert summary_of([]) is None


def test_summary_is_found_only_where_a_history_begins():
    first = compacted(turns(2), "old", turns(2)[2:])
    assert summary_of(first) == "old"
    assert summary_of([SYSTEM, user("hello"), first[1]]) is None


async def test_small_conversation_is_left_alone():
    asked = Summarizer()
    assert await compact(turns(4), budget(100_000), asked) is None
    assert asked.requests == []


async def test_conversation_beyond_its_budget_becomes_summary_and_recent_part():
    history = turns(10)
    done = await compact(history, budget(800), Summarizer("logs 0 to 7 are sorted"))
    assert done.history[:3] == [SYSTEM, *compacted(history, "logs 0 to 7 are sorted", [])[1:]]
    assert done.history[3:] == history[-done.kept :]
    assert done.kept == 4
    assert done.summary == summary_of(done.history) == "logs 0 to 7 are sorted"


async def test_next_pass_folds_the_summary_in():
    asked = Summarizer("first", "second")
    once = await compact(turns(10), budget(800), asked)
    grown = [*once.history, *turns(10)[2:]]
    twice = await compact(grown, budget(800), asked)
    assert "first" in asked.requests[1][-1].content
    assert summary_of(twice.history) == "second"
    assert sum(is_summary(message) for message in twice.history) == 1
    assert asked.requests[1][-1].content.count("first") == 1


async def test_switched_off_budget_is_never_exceeded_but_can_be_forced():
    never = budget_of(compact_after_tokens=0, window=1_000, source="agent")
    assert await compact(turns(50), never, Summarizer()) is None
    assert await compact(turns(50), never, Summarizer(), force=True) is not None


async def test_failure_of_the_model_is_passed_on():
    async def fail(request: list[Message]) -> str:
        raise ProviderError("busy")

    with pytest.raises(ProviderError, match="busy"):
        await compact(turns(10), budget(800), fail)


async def test_summary_without_text_never_takes_the_place_of_a_conversation():
    with pytest.raises(ProviderError, match="summary of the conversation is empty"):
        await compact(turns(10), budget(800), Summarizer(" \n"))


@pytest.mark.parametrize(
    "history",
    [[], [SYSTEM], [SYSTEM, user(BIG)], [SYSTEM, user("go"), says(None, C1), tool_result(C1, BIG)]],
    ids=["nothing", "system", "one message", "one reply"],
)
async def test_nothing_that_could_be_folded_asks_nobody(history):
    asked = Summarizer()
    assert await compact(history, budget(10), asked, force=True) is None
    assert asked.requests == []


async def test_group_larger_than_its_budget_is_summarised_once_and_no_more():
    asked = Summarizer()
    history = [*turns(3), *turns(1, size=40_000)[2:]]
    done = await compact(history, budget(800), asked)
    count = len(asked.requests)
    assert done.kept == 2
    assert await compact(done.history, budget(800), asked) is None
    assert len(asked.requests) == count


async def test_old_part_beyond_the_window_is_summarised_piece_by_piece():
    asked = Summarizer()
    history = turns(40, size=3_000)
    done = await compact(history, small_window(2_500), asked)
    assert len(asked.requests) > 5
    assert all(estimate_tokens(request[1:]) < 2_000 for request in asked.requests)
    assert all(f"summary {n}" in request[-1].content for n, request in enumerate(asked.requests[1:], 1))
    assert done.summary == f"summary {len(asked.requests)}"
    told = "".join(request[-1].content for request in asked.requests)
    assert all(f"log{n} " in told for n in range(38))


@pytest.mark.parametrize("text", [BIG * 10, "日本語の記録" * 4_000])
async def test_message_beyond_the_window_is_taken_apart(text):
    asked = Summarizer()
    await compact([SYSTEM, user(text), *turns(3)[1:]], small_window(2_500), asked)
    assert all(estimate_tokens(request[1:]) < 2_000 for request in asked.requests)


@given(st.lists(st.text(max_size=60), min_size=2, max_size=8), st.integers(1, 12))
async def test_pieces_end_for_every_budget(said, tokens):
    history = [SYSTEM, *(user(text) for text in said)]
    asked = Summarizer()
    done = await compact(history, small_window(tokens), asked, force=True)
    assert done is None or len(asked.requests) <= sum(map(len, said)) + len(said) * 8


async def test_old_part_that_fits_the_window_takes_one_request_however_small_the_budget():
    asked = Summarizer()
    await compact(turns(200), budget(800), asked)
    assert len(asked.requests) == 1


async def test_budget_beyond_the_assumed_window_is_believed():
    asked = Summarizer()
    history = [SYSTEM, user("sort " * 200_000), says("sorted"), user("again " * 110_000)]
    await compact(history, budget(400_000), asked)
    assert len(asked.requests) == 1


def test_request_holds_everything_but_the_system_message():
    request = summary_request([SYSTEM, user("sort"), says("I look", C1, C2), tool_result(C1, "one")])
    assert [message.role for message in request] == ["system", "user"]
    assert SYSTEM.content not in request[1].content
    for part in ("sort", "I look", "read_file", "one"):
        assert part in request[1].content
    assert all(not message.tool_calls and message.role != "tool" for message in request)


def test_request_without_a_previous_summary_speaks_of_none():
    assert "<previous_summary>" not in summary_request([user("a")])[1].content
    assert "earlier" in summary_request([user("a")], "earlier")[1].content


def test_long_result_is_cut_and_says_so():
    text = summary_request([says(None, C1), tool_result(C1, "é" * 10_000)])[1].content
    assert 1_900 < text.count("é") <= 2_000
    assert "20,000 bytes" in text


def test_result_at_the_limit_is_whole():
    text = summary_request([says(None, C1), tool_result(C1, "x" * 4_000)])[1].content
    assert "x" * 4_000 in text
    assert "[cut" not in text


@pytest.mark.parametrize("around", ["{}", "{}" + BIG, BIG + "{}", BIG + "{}" + BIG])
def test_pointer_to_a_file_survives_whole(tmp_path, around):
    path, pointer = spill("é" * 50_000, call_id="c1", root=Root(tmp_path))
    text = summary_request([says(None, C1), tool_result(C1, around.replace("{}", pointer))])[1].content
    assert pointer in text
    assert f'path="{path}"' in text
    assert len(text) < 4_000 + 700
    assert (tmp_path / path).read_text() == "é" * 50_000


def test_something_that_only_begins_like_a_pointer_is_cut():
    text = summary_request([says(None, C1), tool_result(C1, "<persistent_file " + "x" * 50_000)])[1].content
    assert len(text) < 5_000


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"compact_after_tokens": None, "window": None, "source": "assumed"}, (102_400, 30_720, 128_000, "assumed")),
        ({"compact_after_tokens": None, "window": 32_000, "source": "agent"}, (25_600, 7_680, 32_000, "agent")),
        (
            {"compact_after_tokens": None, "window": 10**6, "source": "catalogue"},
            (800_000, 240_000, 10**6, "catalogue"),
        ),
        ({"compact_after_tokens": 40_000, "window": 10**6, "source": "server"}, (40_000, 12_000, 10**6, "server")),
        ({"compact_after_tokens": 40_000, "window": None, "source": "assumed"}, (40_000, 12_000, 128_000, "assumed")),
        ({"compact_after_tokens": 0, "window": 10_000, "source": "agent"}, (None, 2_400, 10_000, "agent")),
    ],
    ids=["unknown", "small", "large", "own", "own and unknown", "never"],
)
def test_budget_follows_from_the_agent_or_the_window(given_, expected):
    assert budget_of(**given_) == Budget(*expected)


def test_budget_is_exceeded_only_beyond_it():
    assert [budget(100).is_exceeded_by(tokens) for tokens in (99, 100, 101)] == [False, False, True]


@given(st.lists(right, min_size=1, max_size=4))
def test_meter_tells_the_same_of_a_history_that_grows_and_of_a_new_one(histories):
    meter, history = SizeMeter(), []
    for more in histories:
        history += more
        assert meter.measure(history) == estimate_tokens([m for m in history if m.role != "system"])


@given(right, right, st.integers(1, 10))
def test_meter_notices_that_a_history_was_rewritten(history, later, keep):
    meter = SizeMeter()
    meter.measure(history)
    history[:] = compacted(history, "what came before", split(history, keep_messages=keep)[1])
    history += later[1:]
    assert meter.measure(history) == SizeMeter().measure(history)


def test_meter_counts_each_message_once():
    read = 0

    class Counting(list[Message]):
        def __getitem__(self, key):
            nonlocal read
            found = super().__getitem__(key)
            read += len(found) if isinstance(key, slice) else 0
            return found

    meter, history = SizeMeter(), Counting(turns(50))
    for _ in range(20):
        meter.measure(history)
        history.append(user("more"))
    assert read == 102 + 19


def test_request_is_the_conversation_with_system_text_and_tools():
    tool = ToolSpec("read_file", "Read a file.", {"type": "object"})
    history = [system("x" * 400), user("y" * 40)]
    meter = SizeMeter([tool])
    assert meter.measure(history) == 10
    assert meter.measure_request(history) == estimate_tokens(history, [tool])


async def test_task_survives_where_the_last_words_are_a_reminder_of_ours():
    task, reminder = user("sort the logs"), user("You are trying to finish.", synthetic=True)
    history = [*turns(6), reminder]

    async def ask(messages: list[Message]) -> str:
        return "all was read"

    done = await compact(history, budget(400), ask, force=True)
    assert done is not None
    assert [message for message in done.history if message in (task, reminder)] == [task, reminder]
