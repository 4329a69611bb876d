"""Repairs a task: an agent is told what failed, may edit and run the command again, and then is done."""

from collections.abc import Awaitable, Callable
from typing import Any

from ..config import FixSpec, TaskStep
from ..events import Note
from ..settings import MAX_QUESTIONS
from ..tools import Tool, ToolContext, ToolResult, shorten
from ..workspace import finish_in_thread
from .context import StepContext
from .conversation import Brief, Conversations
from .models import Models
from .results import StepResult

Rerun = Callable[[], Awaitable[ToolResult]]
"""Runs the task's command once more and says what it printed and how it ended."""


async def repair(step: TaskStep, fix: FixSpec, ctx: StepContext, *, failure: str, output: str, rerun: Rerun) -> None:
    """Hold the fixer's one conversation in the task's directory; whether it helped shows in the run that follows.

    Its `attempts` and `timeout` are budgets of its own. It is part of the job's trail under its agent's name.
    """
    agent = ctx.run.pipeline.agent(fix.agent)
    models = Models(
        ctx.run.pipeline, agent, ctx.run.functions, run_id=ctx.run.recorder.run_id, cassette=ctx.run.cassette
    )
    ctx.run.recorder.hide(models.secrets)
    inside = ctx if fix.dir is None else ctx.in_folder(fix.dir)
    printed = await finish_in_thread(shorten, output, call_id=f"output-of-{step.task}", root=inside.root)
    try:
        await models.prepare(lambda text: ctx.emit(Note(text=text)))
        conversations = Conversations(models, max_questions=agent.max_questions or MAX_QUESTIONS)
        brief = Brief(
            agent=agent,
            messages=_messages(step, fix, failure, printed),
            selected=fix.tools,
            tools=(_rerun_tool(rerun),),
            inputs=step.inputs,
            outputs=step.outputs,
            attempts=fix.attempts or 1,
            timeout_s=fix.timeout_s,
        )
        step_id = f"{ctx.step_id}.fix"
        ended = await conversations.hold_recorded(brief, inside, step_id=step_id, step_kind="fix")
        text = None if ended.held is None else ended.held.result.text
        ctx.scope.executed.append(StepResult(step_id, agent.name, "fix", ended.outcome, ended.reason, text))
    finally:
        await models.close()


def _messages(step: TaskStep, fix: FixSpec, failure: str, printed: str) -> tuple[str, ...]:
    """Write the fixer's messages; what failed is told with the first."""
    told = (
        f"The command of task `{step.task}` did not do what it should: {failure}.\n\n"
        f"The command:\n{step.run}\n\nWhat it printed:\n{printed or '(nothing)'}\n\n"
        "Repair the cause. `rerun` runs the command again and shows what it prints."
    )
    first, *others = fix.messages or ("",)
    return (f"{first}\n\n{told}".strip(), *others)


def _rerun_tool(rerun: Rerun) -> Tool:
    async def call(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        return await rerun()

    return Tool(
        name="rerun",
        description="Run the task's command again and see what it prints and how it ends.",
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
        call=call,
    )
