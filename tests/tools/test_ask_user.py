import json

import pytest

from stepsnb.effects import RetryPolicy
from stepsnb.errors import Aborted, InputError
from stepsnb.tools import AskReply, AskRequest, ToolContext, policy_of
from stepsnb.tools.ask_user import ask_user_tool

from .conftest import Call, error_of


@pytest.fixture
def asked(ctx: ToolContext) -> list[AskRequest]:
    """What was asked; each question is answered with `B`."""
    asked: list[AskRequest] = []

    async def ask(request: AskRequest) -> AskReply:
        asked.append(request)
        return AskReply(answered=True, answer="B", source="given")

    ctx.ask = ask
    return asked


async def test_answer_is_the_result(call: Call, asked: list[AskRequest]) -> None:
    called = await call(ask_user_tool(), question="Which port?", options=["A", "B"])
    assert json.loads(called.result.content) == {"answered": True, "answer": "B", "source": "given"}
    assert asked == [AskRequest(text="Which port?", options=("A", "B"))]


async def test_options_are_optional_and_kept_once(call: Call, asked: list[AskRequest]) -> None:
    await call(ask_user_tool(), question="Why?")
    await call(ask_user_tool(), question="Why?", options=["A", "A", " ", "B"])
    assert [request.options for request in asked] == [(), ("A", "B")]


async def test_grant_shapes_the_question(call: Call, asked: list[AskRequest]) -> None:
    tool = ask_user_tool(default="patch", timeout_s=300.0, options_required=True, required=True)
    await call(tool, question="Which bump?")
    assert asked == [AskRequest(text="Which bump?", default="patch", timeout_s=300.0, options_required=True)]
    assert (tool.required, tool.waits_for_person, policy_of(tool)) == (True, True, RetryPolicy())


async def test_default_is_told_to_the_model(call: Call, ctx: ToolContext) -> None:
    async def ask(request: AskRequest) -> AskReply:
        return AskReply(answered=False, answer="patch", source="default", note="nobody answered within 5m")

    ctx.ask = ask
    assert json.loads((await call(ask_user_tool(), question="Which bump?")).result.content) == {
        "answered": False,
        "answer": "patch",
        "source": "default",
        "note": "nobody answered within 5m",
    }


@pytest.mark.parametrize("error", [Aborted("nobody answered"), InputError("no answers are left")])
async def test_question_nobody_answers_is_no_result(call: Call, ctx: ToolContext, error: Exception) -> None:
    async def ask(request: AskRequest) -> AskReply:
        raise error

    ctx.ask = ask
    with pytest.raises(type(error), match=str(error)):
        await call(ask_user_tool(), question="Which bump?")


async def test_place_without_people_is_told(call: Call) -> None:
    assert "nobody can be asked here" in error_of(await call(ask_user_tool(), question="Why?"))


async def test_question_is_needed(call: Call, asked: list[AskRequest]) -> None:
    assert error_of(await call(ask_user_tool())) == "the call was not run: argument `question` is missing"
    assert asked == []
