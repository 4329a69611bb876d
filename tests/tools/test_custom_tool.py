import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepsnb.config import CustomGrant
from stepsnb.effects import RetryPolicy
from stepsnb.tools import ToolContext
from stepsnb.tools.custom_tool import custom_tool

from .conftest import Call, error_of


def grant(run: str, **settings: Any) -> CustomGrant:
    return CustomGrant.model_validate({"name": "post_review", "description": "Post it.", "run": run, **settings})


def test_schema_is_inferred_from_the_references() -> None:
    tool = custom_tool(grant('post {{ .args.body | shellquote }} {{ index .args "tag" | default "none" }}'))
    assert (tool.name, tool.description) == ("post_review", "Post it.")
    assert tool.parameters == {
        "type": "object",
        "properties": {"body": {"type": "string"}, "tag": {"type": "string"}},
        "required": ["body"],
        "additionalProperties": False,
    }


async def test_program_runs_in_the_working_directory_with_its_arguments(work: Path, call: Call) -> None:
    tool = custom_tool(grant("echo {{ .args.body | shellquote }} | tee made.txt"))
    called = await call(tool, body='it\'s "$HOME" `fine`')
    assert called.result.content == 'it\'s "$HOME" `fine`\n'
    assert (work / "made.txt").read_text() == called.result.content
    assert called.arguments == {"body": 'it\'s "$HOME" `fine`'}


@given(value=st.text(st.characters(codec="utf-8", exclude_characters="\0")))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_argument_arrives_unchanged_through_shellquote(ctx: ToolContext, value: str) -> None:
    tool = custom_tool(grant("printf '%s.' {{ .args.body | shellquote }}"))
    assert (await tool.call({"body": value}, ctx)).content == f"{value}."


async def test_failing_program_is_data(call: Call) -> None:
    called = await call(custom_tool(grant("echo out; echo no >&2; exit 3")))
    assert json.loads(called.result.content) == {"exit_code": 3, "stdout": "out\n", "stderr": "no\n"}
    assert not called.ok


async def test_program_that_warns_shows_both_streams(call: Call) -> None:
    called = await call(custom_tool(grant("echo out; echo careful >&2")))
    assert json.loads(called.result.content) == {"exit_code": 0, "stdout": "out\n", "stderr": "careful\n"}
    assert called.ok


async def test_program_that_prints_nothing_says_how_it_ended(call: Call) -> None:
    called = await call(custom_tool(grant("true")))
    assert json.loads(called.result.content) == {"exit_code": 0, "stdout": "", "stderr": ""}


async def test_missing_argument_is_told_and_nothing_runs(work: Path, call: Call) -> None:
    called = await call(custom_tool(grant("touch ran {{ .args.body }}")))
    assert error_of(called) == "the call was not run: argument `body` is missing"
    assert called.denied_by == "arguments"
    assert not (work / "ran").exists()


async def test_argument_of_another_name_is_told(call: Call) -> None:
    message = error_of(await call(custom_tool(grant("echo {{ .args.body }}")), text="x", body="y"))
    assert message == "the call was not run: unknown argument `text`; available: body"


async def test_number_becomes_text(call: Call) -> None:
    assert (await call(custom_tool(grant("echo {{ .args.n }}")), n=42)).result.content == "42\n"


async def test_argument_may_be_left_out_where_a_default_stands(call: Call) -> None:
    tool = custom_tool(grant('echo {{ .args.tag | default "none" }}'))
    assert (await call(tool)).result.content == "none\n"
    assert (await call(tool, tag=None)).result.content == "none\n"
    assert (await call(tool, tag="v1")).result.content == "v1\n"


async def test_pin_is_invisible_and_overrides_what_the_model_sends(call: Call) -> None:
    tool = custom_tool(grant("echo {{ .args.repo }} {{ .args.body }}", args={"repo": "jtarchie/ci"}))
    assert list(tool.parameters["properties"]) == ["body"]
    assert tool.parameters["required"] == ["body"]
    called = await call(tool, body="ok", repo="evil/repo")
    assert called.result.content == "jtarchie/ci ok\n"
    assert called.arguments == {"body": "ok"}


async def test_value_in_braces_is_not_rendered(call: Call) -> None:
    tool = custom_tool(grant("echo {{ .args.body | shellquote }}", args={}))
    assert (await call(tool, body="{{ .args.secret }}")).result.content == "{{ .args.secret }}\n"


async def test_argument_no_program_can_be_given_is_told(call: Call) -> None:
    message = error_of(await call(custom_tool(grant("echo {{ .args.body | shellquote }}")), body="a\0b"))
    assert message == (
        "the program could not be made: `shellquote` was given a NUL character, which no program can be given"
    )


async def test_program_that_takes_too_long_is_data_with_what_it_printed(call: Call) -> None:
    tool = custom_tool(grant("echo waiting; sleep 60"), policy=RetryPolicy(run_timeout_s=1))
    called = await call(tool)
    assert error_of(called).startswith("`post_review` timed out after 1 s (deadline exceeded while running); ")
    assert called.result.data is not None
    assert called.result.data["stdout"] == "waiting\n"


async def test_output_over_the_grants_own_bound_is_a_file(work: Path, call: Call) -> None:
    called = await call(custom_tool(grant("seq 1 1000", max_output_bytes=1_000)))
    assert called.spilled_to == ".steps-output/call_1.txt"
    assert (work / called.spilled_to).read_text().startswith("1\n2\n")
    assert len(called.result.content) < 1_600


async def test_wider_bound_keeps_all_of_it_inline(call: Call) -> None:
    called = await call(custom_tool(grant("seq 1 20000", max_output_bytes=10_000_000)))
    assert called.spilled_to is None
    assert called.result.content.endswith("\n20000\n")


async def test_max_calls_refuses_before_the_tool_runs(work: Path, call: Call) -> None:
    tool = custom_tool(grant("echo x >> ran", max_calls=2, required=True))
    assert tool.required
    first, second, third = [await call(tool) for _ in range(3)]
    assert (first.ok, second.ok, third.ok) == (True, True, False)
    assert (first.denied_by, third.denied_by) == (None, "max_calls")
    assert error_of(third) == (
        "the call was not run: `post_review` may be called 2 times in a conversation (`max_calls`), and has been; "
        "go on without it"
    )
    assert (work / "ran").read_text() == "x\nx\n"
