"""The turn loop against a conversation that says what a scripted model cannot."""

import asyncio
from decimal import Decimal

import pytest

from stepsnb.agent import AgentDeps, Budget, Obligations, StopReason, ToolRunner, run_agent
from stepsnb.effects import RetryPolicy
from stepsnb.errors import Aborted, InputError, ProviderError
from stepsnb.llm import Reply, RequestFailed
from stepsnb.messages import Mark, ToolCall, system
from stepsnb.settings import CONTINUATIONS, LENGTH_CONTINUATIONS, MAX_EMPTY_REPLIES, MAX_NUDGES
from stepsnb.tools import Tool, ToolContext, ToolResult
from stepsnb.usage import Usage
from stepsnb.workspace import Root


class Conversation:
    """Plays its entries in order: a `Reply`, an exception to raise, or a coroutine function to await."""

    def __init__(self, *entries):
        self.entries, self.seen = list(entries), []

    async def complete(self, history, choice=None, listener=None):
        self.seen.append((list(history), choice))
        entry = self.entries.pop(0)
        if isinstance(entry, Exception):
            raise entry
        return await entry(listener) if callable(entry) else entry


def calling(*names, text=None, arguments="{}"):
    return Reply(text=text, tool_calls=tuple(ToolCall(f"c{n}", name, arguments) for n, name in enumerate(names)))


def tool(name, call, **fields):
    async def run(value, ctx):
        result = call()
        return await result if asyncio.iscoroutine(result) else result

    return Tool(name=name, description=name, parameters={"type": "object"}, call=run, **fields)


@pytest.fixture
def agent(tmp_path):
    """Run a conversation; returns its result, its events and the history."""

    async def settled():
        """Everything is on the disk."""

    class Agent:
        def __init__(self):
            self.events, self.history = [], [system("You are brief.")]

        async def run(self, *entries, tools=(), messages=("Go.",), **fields):
            self.chat = Conversation(*entries)
            runner = ToolRunner(
                tools,
                context=ToolContext(root=Root(tmp_path)),
                emit=self.events.append,
                settle=settled,
            )
            deps = AgentDeps(
                chat=self.chat, model="m", messages=messages, tools=runner, emit=self.events.append, **fields
            )
            return await run_agent(deps, self.history)

        def of(self, kind):
            return [event for event in self.events if event.kind == kind]

    return Agent()


def is_sendable(history):
    """Whether each call has exactly one result, before the next reply or message."""
    owed = []
    for message in history:
        if message.role == "tool":
            owed.remove(message.tool_call_id)
        else:
            if owed:
                return False
            owed = [call.id for call in message.tool_calls]
    return not owed


async def test_text_beside_calls_is_kept_and_is_not_the_answer(agent):
    result = await agent.run(
        calling("look", text="Let me look."), Reply(text="Seen."), tools=[tool("look", lambda: ToolResult("sky"))]
    )
    assert (result.stop, result.text, result.turns) == (StopReason.ANSWERED, "Seen.", 2)
    assert [m.content for m in agent.history] == ["You are brief.", "Go.", "Let me look.", "sky", "Seen."]
    assert is_sendable(agent.history)


SOON = RetryPolicy(run_timeout_s=0.05, max_attempts=2, backoff_base_s=0)


def hanging(*said):
    async def hang(listener):
        for text in said:
            listener.text(text)
        await asyncio.sleep(60)

    return hang


async def test_request_that_outlives_its_run_clock_without_a_word_is_sent_again(agent):
    result = await agent.run(hanging(), Reply(text="Here."), policy=SOON)
    assert (result.stop, result.text) == (StopReason.ANSWERED, "Here.")
    (retry,) = agent.of("retry")
    assert (retry.retry_kind, retry.code) == ("replay", "deadline_exceeded")
    late = agent.of("request")[0]
    assert (late.attempt, late.status, late.error) == (
        1, None, "model `m`: deadline exceeded while running: no result within 0.05 s (`run_timeout_secs`)",
    )  # fmt: skip


async def test_request_that_outlives_its_run_clock_in_mid_reply_is_continued_and_never_sent_again(agent):
    result = await agent.run(hanging("Once upon"), Reply(text=" a time."), policy=SOON)
    assert (result.stop, result.text) == (StopReason.ANSWERED, "Once upon a time.")
    assert [event.retry_kind for event in agent.of("retry")] == ["dropped"]
    assert [message.content for message in agent.history[2:3]] == ["Once upon"]
    late = agent.of("request")[0]
    assert (late.status, late.cost_usd) == (200, None)  # it had been accepted, and may be billed


def broken(text, **fields):
    return RequestFailed("the connection was lost", status=200, retryable=True, partial=Reply(text=text, **fields))


async def test_reply_that_broke_off_is_continued_with_attempts_of_one(agent):
    result = await agent.run(broken("Once upon"), Reply(text=" a time."), policy=RetryPolicy(max_attempts=1))
    assert result.text == "Once upon a time."
    assert [event.marks for event in agent.of("turn_finished")] == [["dropped"], []]
    assert is_sendable(agent.history)


async def test_calls_of_a_reply_that_broke_off_are_dropped_and_sent_again(agent):
    ran = []
    looked = tool("look", lambda: ran.append(1) or ToolResult("sky"))
    half = broken(None, tool_calls=(ToolCall("c1", "look", '{"a":'),))
    result = await agent.run(half, calling("look"), Reply(text="sky"), tools=[looked])
    assert (result.text, len(ran)) == ("sky", 1)
    assert "send it again" in agent.history[2].content
    assert all(message.role != "assistant" or message.content or message.tool_calls for message in agent.history)


async def test_replies_that_break_off_again_and_again_end_with_the_text_so_far(agent):
    result = await agent.run(*[broken(f"{n} ") for n in range(CONTINUATIONS + 1)])
    assert (result.stop, result.text) == (StopReason.PROVIDER, "".join(f"{n} " for n in range(CONTINUATIONS + 1)))
    assert f"the connection was lost in {CONTINUATIONS + 1} replies in a row" in result.reason
    assert len(agent.chat.seen) == CONTINUATIONS + 1


async def test_whole_reply_resets_what_lost_connections_and_calls_share(agent):
    lost = Reply(text="Let me.", finish_reason="tool_calls", marks=(Mark.LOST,))
    rounds = [broken("a"), lost] * (CONTINUATIONS // 2)
    result = await agent.run(*rounds, Reply(text="one"), *rounds, Reply(text="two"), messages=["a", "b"])
    assert result.stop is StopReason.ANSWERED


async def test_time_out_of_somebody_elses_is_not_taken_for_the_run_clock(agent):
    async def fail(listener):
        raise TimeoutError("a watcher's own")

    with pytest.raises(TimeoutError, match="a watcher's own"):
        await agent.run(fail)


@pytest.mark.parametrize(("streams", "status"), [(True, 200), (False, None)])
async def test_stopped_request_is_in_the_record(agent, streams, status):
    async def hang(listener):
        if streams:
            listener.thinking("hm")
        await asyncio.sleep(60)

    task = asyncio.create_task(agent.run(hang))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    request = agent.of("request")[0]
    assert (request.error, request.status) == ("cut off before the reply was complete", status)


async def test_failed_request_shows_what_it_used_all_the_same(agent):
    partial = Reply(
        text="Once", usage=Usage(input_tokens=100, output_tokens=7), cost_usd=Decimal("0.02"), price_source="pipeline"
    )
    result = await agent.run(RequestFailed("the connection was lost", status=200, partial=partial))
    assert (result.stop, result.reason) == (StopReason.PROVIDER, "the connection was lost")
    request = agent.of("request")[0]
    assert (request.input_tokens, request.output_tokens, request.cost_usd) == (100, 7, "0.02")
    assert (request.error, request.price_source) == ("the connection was lost", "pipeline")


async def test_request_that_breaks_off_at_a_free_model_costs_nothing(agent):
    await agent.run(ProviderError("the connection was lost", status=200), is_free=True)
    assert (agent.of("request")[0].cost_usd, agent.of("request")[0].price_source) == ("0", "local")


async def test_unknown_price_is_none_and_not_nothing(agent):
    await agent.run(Reply(text="hi", usage=Usage(input_tokens=3)))
    assert agent.of("request")[0].cost_usd is None


async def test_turns_are_counted_over_all_messages(agent):
    result = await agent.run(
        Reply(text="one"), calling("look"), Reply(text="what I have"),
        tools=[tool("look", lambda: ToolResult("sky"))], messages=["a", "b", "c"], max_turns=2,
    )  # fmt: skip
    assert (result.stop, result.text, result.turns) == (StopReason.WRAPPED_UP, "what I have", 3)
    assert [m.content for m in agent.history if m.role == "user"][1:] == [
        "b",
        "Your 2 turns are used up. Answer now from what you have; no tools are available any more.",
    ]
    assert agent.chat.seen[-1][1].may_call is False


async def test_calls_in_the_wrap_up_are_not_run_and_leave_the_history_sendable(agent):
    result = await agent.run(
        calling("look"), calling("look", text="Enough."), tools=[tool("look", lambda: ToolResult("sky"))], max_turns=1
    )
    assert (result.stop, result.text) == (StopReason.WRAPPED_UP, "Enough.")
    assert len([event for event in agent.of("tool") if event.phase == "end"]) == 1
    assert is_sendable(agent.history)


async def test_wrap_up_without_a_word_is_empty(agent):
    silent = [Reply(text=" ")] * (MAX_EMPTY_REPLIES + 1)
    result = await agent.run(calling("look"), *silent, tools=[tool("look", lambda: ToolResult("sky"))], max_turns=1)
    assert (result.stop, result.reason) == (
        StopReason.EMPTY,
        "all 1 turns (`max_turns`) are used, and the model sent an empty reply (finish reason `None`)",
    )


async def test_wrap_up_that_fails_says_both(agent):
    result = await agent.run(
        calling("look"), ProviderError("down"), tools=[tool("look", lambda: ToolResult("sky"))], max_turns=1
    )
    assert (result.stop, result.reason) == (
        StopReason.PROVIDER,
        "all 1 turns (`max_turns`) are used, and the last request failed: down",
    )


async def test_required_tool_still_owed_at_the_last_turn_ends_without_a_wrap_up(agent):
    look = tool("look", lambda: ToolResult.error("no"), required=True)
    result = await agent.run(calling("look"), tools=[look], max_turns=1, obligations=Obligations(required=["look"]))
    assert (result.stop, result.reason) == (
        StopReason.OWED,
        "all 1 turns (`max_turns`) are used and required tool `look` never succeeded",
    )


async def test_reply_cut_off_by_the_output_limit_says_what_to_raise(agent):
    result = await agent.run(*[Reply(text=None, finish_reason="length")] * (LENGTH_CONTINUATIONS + 1))
    assert (result.stop, result.reason) == (
        StopReason.EMPTY,
        "the model's reply was cut off by its output limit before it said anything; raise `max_tokens`",
    )


async def test_obligations_are_put_to_the_model_after_the_last_message_only(agent):
    owed = Obligations(files=["r/a"], nudge=True, has_file=lambda _: False)
    replies = [Reply(text=f"reply {n}") for n in range(2 + MAX_NUDGES)]
    result = await agent.run(*replies, messages=["a", "b"], obligations=owed)
    assert (result.stop, result.text) == (StopReason.ANSWERED, f"reply {1 + MAX_NUDGES}")
    assert len(agent.of("nudge")) == MAX_NUDGES
    asked = [(m.content or "")[:12] for m in agent.history if m.role == "user"]
    assert asked[:3] == ["a", "b", "You are tryi"]


async def test_tool_that_was_not_granted_is_refused_as_data_and_recorded_as_denied(agent):
    result = await agent.run(calling("lok"), Reply(text="ok"), tools=[tool("look", lambda: ToolResult("sky"))])
    end = next(event for event in agent.of("tool") if event.phase == "end")
    assert result.stop is StopReason.ANSWERED
    assert (end.ok, end.denied_by) == (False, "grant")
    assert end.result == '{"error":"unknown tool `lok` (did you mean `look`?); available: look"}'


async def test_arguments_that_are_no_json_are_refused_as_data(agent):
    ran = []
    look = tool("look", lambda: ran.append(1) or ToolResult("sky"))
    await agent.run(calling("look", arguments="{oops"), Reply(text="ok"), tools=[look])
    assert ran == []
    assert "the call was not run: the arguments are not valid JSON" in agent.history[3].content


@pytest.mark.parametrize("error", [Aborted("nobody answered"), InputError("answers are used up")])
async def test_question_that_ends_the_step_ends_its_neighbours_and_every_call_in_the_record(agent, error):
    async def slow():
        await asyncio.sleep(60)

    def ask():
        raise error

    tools = [
        tool("look", slow, is_read_only=True),
        tool("ask_user", ask, waits_for_person=True),
        tool("write", lambda: ToolResult("written")),
    ]
    with pytest.raises(type(error), match=str(error)):
        await agent.run(calling("look", "ask_user", "write"), tools=tools)
    ends = {event.tool: event.result for event in agent.of("tool") if event.phase == "end"}
    cut = '{"error":"the call was cut off before it had a result"}'
    assert ends == {"look": cut, "ask_user": cut}
    assert {event.tool for event in agent.of("tool") if event.phase == "start"} == {"look", "ask_user"}


async def test_calls_that_change_something_run_one_after_another_in_order(agent):
    log = []

    def writer(name):
        async def work():
            log.append(f"{name} begins")
            await asyncio.sleep(0.02)
            log.append(f"{name} ends")
            return ToolResult(name)

        return work

    tools = [tool("a", writer("a")), tool("r", writer("r"), is_read_only=True), tool("b", writer("b"))]
    await agent.run(calling("a", "b", "r"), Reply(text="ok"), tools=tools)
    assert log[:2] == ["r begins", "a begins"]
    assert log.index("a ends") < log.index("b begins")
    assert [m.content for m in agent.history if m.role == "tool"] == ["a", "b", "r"]


def cut_write(n):
    return Reply(
        tool_calls=(ToolCall(f"w{n}", "write", f'{{"text": "part {n}'),),
        finish_reason="length",
        marks=(Mark.TRUNCATED,),
    )


async def test_calls_that_are_cut_off_again_and_again_end_the_conversation(agent):
    ran = []
    write = tool("write", lambda: ran.append(1) or ToolResult("ok"))
    result = await agent.run(*[cut_write(n) for n in range(LENGTH_CONTINUATIONS + 1)], tools=[write])
    assert (result.stop, ran) == (StopReason.PROVIDER, [])
    assert "model `m`: 3 replies in a row were cut off by the output limit; raise `max_tokens`" in result.reason


async def test_whole_reply_between_calls_that_are_cut_off_resets_their_count(agent):
    write = tool("write", lambda: ToolResult("ok"))
    cut = [cut_write(n) for n in range(LENGTH_CONTINUATIONS)]
    result = await agent.run(*cut, calling("write"), *cut, calling("write"), Reply(text="Done."), tools=[write])
    assert (result.stop, result.text) == (StopReason.ANSWERED, "Done.")
    assert is_sendable(agent.history)


async def test_what_was_said_before_a_lost_call_is_no_part_of_the_answer(agent):
    lost = Reply(text="Let me look.", finish_reason="tool_calls", marks=(Mark.LOST,))
    result = await agent.run(broken("First, "), lost, Reply(text="It is blue."))
    assert result.text == "It is blue."


async def test_answer_in_the_wrap_up_counts_though_it_announces_a_call(agent):
    lost = Reply(text="It is blue.", finish_reason="tool_calls", marks=(Mark.LOST,))
    result = await agent.run(calling("look"), lost, tools=[tool("look", lambda: ToolResult("sky"))], max_turns=1)
    assert (result.stop, result.text) == (StopReason.WRAPPED_UP, "It is blue.")


async def test_blank_reply_that_was_cut_off_is_no_part_of_an_answer(agent):
    result = await agent.run(Reply(text=" \n", finish_reason="length"), Reply(text=""), Reply(text="Blue."))
    assert (result.stop, result.text) == (StopReason.ANSWERED, "Blue.")


async def test_required_tool_without_calls_left_ends_the_conversation(agent):
    post = tool("post", lambda: ToolResult.error("down"), required=True, max_calls=2)
    owed = Obligations(required=["post"])
    result = await agent.run(calling("post"), calling("post"), tools=[post], obligations=owed)
    assert (result.stop, result.reason) == (
        StopReason.OWED,
        "required tool `post` never succeeded; no calls of `post` are left",
    )


async def test_required_tool_whose_last_call_succeeds_lets_the_conversation_go_on(agent):
    post = tool("post", lambda: ToolResult("posted"), required=True, max_calls=1)
    owed = Obligations(required=["post"])
    result = await agent.run(calling("post"), Reply(text="Done."), tools=[post], obligations=owed)
    assert (result.stop, result.text) == (StopReason.ANSWERED, "Done.")


async def test_reply_that_broke_off_is_not_summarised_before_it_was_gone_on_with(agent):
    long = "word" * 2_000
    budget = Budget(compact_at=1_000, keep_tokens=300, window=1_250, window_source="agent")
    result = await agent.run(broken(long), Reply(text=" end."), budget=budget, summarizer=Conversation())
    assert result.text == f"{long} end."
    assert long in [message.content for message in agent.chat.seen[1][0]]


async def test_decision_is_no_answer_to_a_later_message(agent):
    owed = Obligations(decisions=["verdict"], tools=["verdict"])
    decide = tool("verdict", lambda: ToolResult("recorded"))
    replies = [calling("verdict"), Reply(text=""), *[Reply(text="")] * (MAX_EMPTY_REPLIES + 1)]
    result = await agent.run(*replies, tools=[decide], messages=["Decide.", "Why?"], obligations=owed)
    assert (result.stop, len(agent.chat.seen)) == (StopReason.EMPTY, 3 + MAX_EMPTY_REPLIES)


async def test_decision_is_the_whole_answer_to_its_own_message(agent):
    owed = Obligations(decisions=["verdict"], tools=["verdict"])
    decide = tool("verdict", lambda: ToolResult("recorded"))
    result = await agent.run(calling("verdict"), Reply(text=""), tools=[decide], obligations=owed)
    assert (result.stop, result.text) == (StopReason.ANSWERED, "")
