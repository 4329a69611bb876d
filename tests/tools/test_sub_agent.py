import pytest

from stepsnb.config import AgentGrant
from stepsnb.errors import Aborted, ProviderError, StepsError
from stepsnb.tools import Spawn, ToolContext, ToolResult, sub_agent_tool

from .conftest import Call, error_of


def grant(**settings: str) -> AgentGrant:
    return AgentGrant.model_validate({"agent": "summarizer", **settings})


def answering(answer: ToolResult | StepsError) -> Spawn:
    async def spawn(request: str, ctx: ToolContext) -> ToolResult:
        if isinstance(answer, StepsError):
            raise answer
        return answer

    return spawn


async def test_request_goes_to_the_agent_and_its_answer_back(call: Call) -> None:
    seen: list[tuple[str, str]] = []

    async def spawn(request: str, ctx: ToolContext) -> ToolResult:
        seen.append((request, ctx.call_id))
        return ToolResult("three lines")

    called = await call(sub_agent_tool(grant(), spawn), request="Condense notes/log.txt")
    assert called.result.content == "three lines"
    assert seen == [("Condense notes/log.txt", "call_1")]


def test_it_has_one_argument_and_runs_beside_other_calls() -> None:
    tool = sub_agent_tool(grant(), answering(ToolResult("")))
    assert list(tool.parameters["properties"]) == ["request"]
    assert tool.parameters["required"] == ["request"]
    assert (tool.runs_together, tool.is_read_only, tool.is_safe_to_repeat) == (True, False, False)


def test_description_is_the_grants_else_the_childs() -> None:
    spawn = answering(ToolResult(""))
    assert sub_agent_tool(grant(description="Mine."), spawn, description="Its.").description == "Mine."
    assert sub_agent_tool(grant(), spawn, description="Its.").description == "Its."
    assert "`summarizer`" in sub_agent_tool(grant(), spawn).description


@pytest.mark.parametrize("failure", [ToolResult.error("agent `summarizer` failed"), ProviderError("key refused")])
async def test_failure_is_data(call: Call, failure: ToolResult | StepsError) -> None:
    message = error_of(await call(sub_agent_tool(grant(), answering(failure)), request="go"))
    assert message in ("agent `summarizer` failed", "key refused")


async def test_unanswered_question_of_the_child_ends_the_step(call: Call) -> None:
    with pytest.raises(Aborted):
        await call(sub_agent_tool(grant(), answering(Aborted("nobody answered"))), request="go")


async def test_long_answer_is_a_file(call: Call) -> None:
    called = await call(sub_agent_tool(grant(), answering(ToolResult("word\n" * 10_000))), request="go")
    assert called.spilled_to == ".steps-output/call_1.txt"
