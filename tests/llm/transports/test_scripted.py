"""Scripts under the real client: replies in order, streaming, errors, and departures that are told."""

import asyncio
import time

import pytest

from stepsnb.errors import ProviderError
from stepsnb.llm import Choice, ModelClient, ToolSpec
from stepsnb.llm.target import FREE
from stepsnb.messages import OPENING_CALL, Message, ToolCall, system, tool_result, user
from stepsnb.usage import Usage

from ..conftest import Heard, build_target

READ = ToolSpec("read_file", "Read.", {"type": "object", "properties": {"path": {"type": "string"}}})


@pytest.fixture
def open_script(tmp_path):
    """Open a conversation with a script written in YAML; several calls give several clients of one file."""

    def open_script(text, *tools, **fields):
        (tmp_path / "s.yml").write_text("version: 1\n" + text, encoding="utf-8")
        target = build_target(
            "http://scripted.invalid/v1",
            **{"provider": "scripted", "model": "s.yml", "base_dir": tmp_path, "price": FREE, **fields},
        )
        return ModelClient(target).open(tools)

    return open_script


def after(history, reply, *results):
    """Return the history with a reply and what its calls gave."""
    told = Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls)
    return [*history, told, *(tool_result(call, text) for call, text in zip(reply.tool_calls, results, strict=True))]


async def departure(chat, history, choice=None):
    with pytest.raises(ProviderError) as caught:
        await chat.complete(history, choice)
    assert (caught.value.status, caught.value.retryable) == (400, False)
    return str(caught.value).removeprefix("provider `scripted`: request refused (400): script `s.yml`: ")


async def test_replies_come_in_order_with_calls_thinking_and_usage(open_script):
    chat = open_script(
        """
replies:
- thinking: Which file?
  text: Let me look.
  calls: [{name: read_file, arguments: {path: a.md}}, {name: read_file, arguments: {path: b.md}}]
  usage: {input: 40, cached_input: 60, cache_write: 5, output: 9, reasoning: 3}
- text: Tides.
""",
        READ,
    )
    history = [user("What is in a.md?")]
    first = await chat.complete(history)
    assert (first.thinking, first.text, first.finish_reason) == ("Which file?", "Let me look.", "tool_calls")
    assert [call.arguments for call in first.tool_calls] == ['{"path":"a.md"}', '{"path":"b.md"}']
    assert first.usage == Usage(
        input_tokens=40, cached_input_tokens=60, cache_write_tokens=5, output_tokens=9, reasoning_tokens=3
    )
    assert (first.cost_usd, first.price_source) == (0, "local")
    second = await chat.complete(after(history, first, "a", "b"))
    assert (second.text, second.tool_calls, second.finish_reason) == ("Tides.", (), "stop")


async def test_ids_of_calls_are_the_same_each_time_and_different_within_a_conversation(open_script):
    text = "replies:\n- calls: [{name: read_file}]\n- calls: [{name: read_file}]\n"
    ids = []
    for _ in range(2):
        chat, history = open_script(text, READ), [user("go")]
        for _ in range(2):
            reply = await chat.complete(history)
            ids.append(reply.tool_calls[0].id)
            history = after(history, reply, "x")
    assert ids[:2] == ids[2:]
    assert ids[0] != ids[1]


async def test_text_arrives_in_pieces_with_a_pause_before_each(open_script):
    heard, started = Heard(), time.monotonic()
    chat = open_script("replies:\n- {text: High water at noon., delay_s: 0.03}\n")
    reply = await chat.complete([user("when?")], listener=heard)
    assert heard.texts == ["High ", "water ", "at ", "noon."]
    assert reply.text == "High water at noon."
    assert time.monotonic() - started > 0.1


async def test_usage_is_estimated_where_the_script_says_none(open_script):
    reply = await open_script("replies: [{text: 12345678}]\n").complete([user("abcd" * 10)])
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 2)


async def test_broken_arguments_go_out_as_they_are_written(open_script):
    chat = open_script("""replies:\n- calls: [{name: read_file, arguments: '{"path": "a'}]\n""", READ)
    assert (await chat.complete([user("go")])).tool_calls[0].raw == '{"path": "a'


async def test_finish_reason_can_be_said(open_script):
    reply = await open_script("replies: [{text: cut of, finish_reason: length}]\n").complete([user("go")])
    assert reply.finish_reason == "length"


async def test_plain_json_is_given_where_no_stream_is_asked_for(open_script):
    chat = open_script("replies: [{text: ok, thinking: hm}]\n", stream=False)
    reply = await chat.complete([user("go")])
    assert (reply.text, reply.thinking) == ("ok", "hm")


async def test_error_comes_its_times_and_then_the_replies_go_on(open_script):
    chat = open_script(
        """
replies:
- error: {status: 429, message: slow down, retry_after_s: 2.5, times: 2}
- text: here
"""
    )
    for _ in range(2):
        with pytest.raises(ProviderError, match="slow down") as caught:
            await chat.complete([user("go")])
        assert (caught.value.status, caught.value.retryable, caught.value.retry_after_s) == (429, True, 2.5)
    assert (await chat.complete([user("go")])).text == "here"


async def test_errors_count_anew_for_each_client(open_script):
    text = "replies:\n- error: {status: 500}\n- text: here\n"
    for _ in range(2):
        with pytest.raises(ProviderError, match="a scripted error"):
            await open_script(text).complete([user("go")])


async def test_conversation_is_chosen_by_what_it_begins_with(open_script):
    text = """
conversations:
- when: critic
  replies: [{text: from the system text}]
- when: draft
  replies: [{text: from the user}]
replies: [{text: from the rest}]
"""
    begun = [[system("You are a critic."), user("go")], [user("a draft")], [user("other"), user("a draft")]]
    replies = await asyncio.gather(*(open_script(text).complete(history) for history in begun))
    assert [reply.text for reply in replies] == ["from the system text", "from the user", "from the rest"]


async def test_conversations_at_the_same_time_do_not_mix(open_script):
    chat = open_script("replies:\n- {text: one, delay_s: 0.01}\n- {text: two, delay_s: 0.01}\n")

    async def converse(name):
        history = [user(name)]
        first = await chat.complete(history)
        chat.drop_cache()
        return first.text, (
            await open_script("replies: [{text: a}, {text: two}]\n").complete(after(history, first))
        ).text

    assert await asyncio.gather(*(converse(str(n)) for n in range(5))) == [("one", "two")] * 5


async def test_json_mode_is_answered_in_json(open_script):
    chat = open_script(
        "replies:\n- calls: [{name: read_file, arguments: {path: a}}]\n- text: Tides.\n", READ, tool_mode="json"
    )
    first = await chat.complete([user("go")])
    assert [(call.name, call.arguments) for call in first.tool_calls] == [("read_file", '{"path":"a"}')]
    assert (await chat.complete(after([user("go")], first, "x"))).text == "Tides."


async def test_more_requests_than_replies_is_told(open_script):
    chat = open_script("replies: [{text: one}]\n")
    first = await chat.complete([user("go")])
    said = await departure(chat, [*after([user("go")], first), user("and now?")])
    assert said == (
        "conversation `replies` has 1 replies, and reply 2 was asked for; the last message is user `and now?`"
    )


async def test_unexpected_message_is_told_with_what_was_expected(open_script):
    chat = open_script("replies:\n- {expect: [tides, noon], text: ok}\n")
    assert await departure(chat, [user("about tides")]) == (
        "reply 1: the last message was to hold `noon`, and is user `about tides`"
    )


async def test_call_of_a_tool_that_is_not_offered_is_told(open_script):
    chat = open_script("replies:\n- calls: [{name: write_file}]\n", READ)
    said = await departure(chat, [user("go")])
    assert said == "reply 1: tool `write_file` was to be offered after user `go`; offered: read_file"
    assert "offered: none" in await departure(chat, [user("go")], Choice(may_call=False))


async def test_model_may_call_what_was_not_offered_when_the_script_says_so(open_script):
    chat = open_script("replies:\n- {calls: [{name: write_file}], check: false}\n", READ)
    assert (await chat.complete([user("go")])).tool_calls[0].name == "write_file"


async def test_expected_tool_that_is_not_offered_is_told(open_script):
    chat = open_script("replies:\n- {expect: {tools: [run_shell]}, text: ok}\n", READ)
    assert "tool `run_shell` was to be offered" in await departure(chat, [user("go")])


async def test_missing_result_is_told(open_script):
    chat = open_script("replies:\n- calls: [{name: read_file}, {name: read_file}]\n- text: ok\n", READ)
    first = await chat.complete([user("go")])
    history = after([user("go")], first, "a", "b")[:-1]
    said = await departure(chat, [*history, user("next")])
    assert said == "reply 2: the result of call `call_1_2` of `read_file` is missing from the history"


async def test_conversation_that_fits_none_is_told(open_script):
    chat = open_script("conversations:\n- {when: tides, replies: [{text: a}]}\n- {when: moon, replies: [{text: b}]}\n")
    assert await departure(chat, [user("sun")]) == (
        "no conversation fits: neither the system text nor the first user message holds one of `tides`, `moon`"
    )


async def test_cancelling_ends_a_slow_reply(open_script):
    chat = open_script("replies: [{text: slow, delay_s: 60}]\n")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await chat.complete([user("go")])


async def test_registered_script_needs_no_file(scripted_llm):
    scripted_llm.says("hello", usage=900).says(error=(503, "down"))
    name = scripted_llm.model.removeprefix("scripted/")
    chat = ModelClient(build_target("http://scripted.invalid/v1", provider="scripted", model=name)).open([READ])
    reply = await chat.complete([user("go")])
    assert (reply.text, reply.usage.input_tokens) == ("hello", 900)
    with pytest.raises(ProviderError, match=r"provider `scripted`: failed \(503\): down"):
        await chat.complete(after([user("go")], reply))
    assert scripted_llm.request_count == 2
    assert scripted_llm.requests[0]["messages"] == [{"role": "user", "content": "go"}]


async def test_replies_in_order_do_not_look_at_the_history(scripted_llm):
    scripted_llm.says("one").says("two")
    name = scripted_llm.model.removeprefix("scripted/")
    chat = ModelClient(build_target("http://scripted.invalid/v1", provider="scripted", model=name)).open([])
    said = [(await chat.complete([user("a")])).text for _ in range(3)]
    assert said == ["one", "two", "one"]  # after the last one a new conversation begins


async def test_calls_that_brought_files_into_the_opening_are_no_replies(open_script):
    chat = open_script("replies:\n- {text: High water at noon.}\n")
    call = ToolCall(f"{OPENING_CALL}1", "read_file", "{}")
    opening = [user("when?"), Message(role="assistant", tool_calls=(call,)), tool_result(call, "tides")]
    assert (await chat.complete(opening)).text == "High water at noon."
