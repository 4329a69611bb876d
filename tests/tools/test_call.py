import asyncio
import contextvars
import time
from collections.abc import Callable
from typing import Any

import pytest

from stepsnb.effects import RetryPolicy
from stepsnb.errors import Aborted, WorkspaceError
from stepsnb.messages import ToolCall
from stepsnb.tools import BadArguments, Tool, ToolContext, ToolResult, call_tool, parse_arguments, python_tool
from stepsnb.tools.list_dir import list_dir_tool
from stepsnb.tools.read_file import read_file_tool

from .conftest import Call, error_of


def raw(tool: Tool, text: str) -> ToolCall:
    return ToolCall("call_1", tool.name, text)


@pytest.mark.parametrize("text", ["", "  ", "null", "\n", " null ", "{}"])
async def test_no_arguments_is_written_in_many_ways(ctx: ToolContext, text: str) -> None:
    def list_sheets() -> str:
        return "ran"

    tool = python_tool(list_sheets)
    called = await call_tool(tool, raw(tool, text), ctx)
    assert (called.result.content, called.arguments) == ("ran", {})


async def test_missing_argument_is_named_when_nothing_was_sent(ctx: ToolContext) -> None:
    def open_sheet(name: str) -> str:
        raise AssertionError("it must not run")

    tool = python_tool(open_sheet)
    assert error_of(await call_tool(tool, raw(tool, ""), ctx)) == "the call was not run: argument `name` is missing"


async def test_text_of_digits_stays_text(call: Call) -> None:
    def show(value: str) -> str:
        return repr(value)

    assert (await call(python_tool(show), value="42")).result.content == "'42'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"path": "a" "b"}', 'not valid JSON: expecting \',\' delimiter at character 14, near `{"path": "a" "b"}`'),
        ('{"path": "a', 'not valid JSON: unterminated string starting at at character 10, near `{"path": "a`'),
        ("[1, 2]", "must be a JSON object, not an array"),
        ('"path"', "must be a JSON object, not a string"),
        ("12", "must be a JSON object, not a number"),
        ("true", "must be a JSON object, not true or false"),
        ("[" * 100_000, "are not JSON that can be read; write less of it"),
        ('{"n": ' + "1" * 5_000 + "}", "are not JSON that can be read; write less of it"),
    ],
)
def test_arguments_that_are_no_object_are_told(text: str, message: str) -> None:
    with pytest.raises(BadArguments) as caught:
        parse_arguments(text)
    assert message in str(caught.value)


async def test_bad_arguments_are_data(ctx: ToolContext) -> None:
    tool = read_file_tool()
    called = await call_tool(tool, raw(tool, "{oops"), ctx)
    assert error_of(called).startswith("the call was not run: the arguments are not valid JSON")
    assert called.arguments == {}


async def test_unknown_argument_is_told_with_what_was_meant(call: Call) -> None:
    assert error_of(await call(read_file_tool(), path="a", start="2")) == (
        "the call was not run: unknown argument `start` (did you mean `start_line`?); "
        "available: end_line, path, start_line"
    )


async def test_all_problems_of_a_call_are_told_together(call: Call) -> None:
    message = error_of(await call(read_file_tool(), file="a", start_line="two", end_line=0))
    assert "argument `path` is missing" in message
    assert "unknown argument `file`" in message
    assert "argument `start_line`: input should be a valid integer" in message
    assert "argument `end_line`: input should be greater than or equal to 1" in message


async def test_number_written_as_text_is_taken(work, call: Call) -> None:
    (work / "a").write_text("one\ntwo\n")
    assert (await call(read_file_tool(), path="a", start_line="2")).result.content == "two\n"


async def test_parsed_arguments_and_duration_are_reported(call: Call) -> None:
    called = await call(list_dir_tool(), path=".")
    assert called.arguments == {"path": "."}
    assert 0 < called.duration_s < 10


class Odd(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def raising_async(error: BaseException) -> Callable[[], Any]:
    async def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize("make", [raising, raising_async])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (KeyError("a"), "KeyError: 'a'"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (TimeoutError("slow"), "TimeoutError: slow"),
        (asyncio.CancelledError(), "asyncio.exceptions.CancelledError"),
        (WorkspaceError("no such place"), "no such place"),
        (Aborted("not by a tool"), "not by a tool"),
    ],
)
async def test_whatever_a_tool_raises_is_data(call: Call, make, error: BaseException, message: str) -> None:
    assert error_of(await call(python_tool(make(error)))) == message


async def test_exception_that_cannot_be_printed_is_data(call: Call) -> None:
    assert "Odd" in error_of(await call(python_tool(raising(Odd()))))


async def test_stop_iteration_is_data(call: Call) -> None:
    assert "StopIteration" in error_of(await call(python_tool(raising(StopIteration("end")))))


async def test_traceback_is_not_shown(call: Call) -> None:
    content = (await call(python_tool(raising(ValueError("bad"))))).result.content
    assert "Traceback" not in content
    assert __file__ not in content


def tool_of(call: Callable[[Any, ToolContext], Any], **traits: Any) -> Tool:
    return Tool(name="slow", description="", parameters={}, call=call, **traits)


async def test_tool_that_takes_too_long_is_data(ctx: ToolContext) -> None:
    async def slow(arguments: Any, ctx: ToolContext) -> ToolResult:
        await asyncio.sleep(60)
        raise AssertionError

    tool = tool_of(slow, policy=RetryPolicy(run_timeout_s=0.1))
    assert error_of(await call_tool(tool, raw(tool, ""), ctx)) == (
        "`slow` timed out after 0.1 s (deadline exceeded while running)"
    )


async def test_result_that_came_after_all_is_not_relabelled(ctx: ToolContext) -> None:
    async def stubborn(arguments: Any, ctx: ToolContext) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return ToolResult("made it")
        raise AssertionError

    tool = tool_of(stubborn, policy=RetryPolicy(run_timeout_s=0.1))
    called = await call_tool(tool, raw(tool, ""), ctx)
    assert (called.result.content, called.ok) == ("made it", True)


async def test_hanging_function_does_not_hold_up_the_step(ctx: ToolContext) -> None:
    def hang() -> None:
        time.sleep(1.5)

    tool = tool_of(python_tool(hang).call, policy=RetryPolicy(run_timeout_s=0.1))
    began = time.monotonic()
    assert "timed out" in error_of(await call_tool(tool, raw(tool, ""), ctx))
    assert time.monotonic() - began < 1


async def test_cancellation_of_the_step_goes_through(ctx: ToolContext) -> None:
    async def wait(arguments: Any, ctx: ToolContext) -> ToolResult:
        await asyncio.sleep(60)
        raise AssertionError

    tool = tool_of(wait, policy=RetryPolicy(run_timeout_s=30))
    task = asyncio.create_task(call_tool(tool, raw(tool, ""), ctx))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_tool_without_check_is_given_the_arguments_as_they_came(ctx: ToolContext) -> None:
    async def echo(arguments: Any, ctx: ToolContext) -> ToolResult:
        return ToolResult.of({"got": arguments})

    tool = tool_of(echo)
    called = await call_tool(tool, raw(tool, '{"a": [1, null]}'), ctx)
    assert called.result.data == {"got": {"a": [1, None]}}


async def test_lone_surrogates_of_a_result_are_escaped(call: Call) -> None:
    def odd() -> str:
        return "a\ud800b ø"

    assert (await call(python_tool(odd))).result.content == "a\\ud800b ø"


REQUEST = contextvars.ContextVar("REQUEST", default="none")


async def test_function_sees_context_variables_of_the_step(call: Call) -> None:
    REQUEST.set("step 1")

    def see() -> str:
        return REQUEST.get()

    assert (await call(python_tool(see))).result.content == "step 1"
