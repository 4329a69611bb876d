"""An `agent` step: a conversation with the tools it was granted, in the step's directory."""

from collections.abc import Awaitable, Callable

from ...agent import AgentDeps, AgentResult, Obligations, StopReason, ToolRunner, build_system_text, run_agent
from ...config import Agent, AgentStep
from ...events import MessageAdded, Note
from ...llm import ModelClient, Target, resolve_target
from ...messages import system
from ...outcome import Outcome
from ...settings import MAX_QUESTIONS, MAX_TURNS, STEP_TIMEOUT_S
from ...tools import AskReply, AskRequest, Tool, ToolContext, build_tools
from ..asserts import owed_calls, unmet_of_step
from ..context import StepContext, StepEnd


def agent_timeout_s(step: AgentStep, agent: Agent) -> float | None:
    """The step's own deadline, else its agent's, else the default; None when there is none."""
    for value in (step.timeout_s, agent.timeout_s):
        if value is not None:
            return value or None
    return STEP_TIMEOUT_S


def _first_set(*values: int | None, default: int) -> int:
    return next((value for value in values if value is not None), default)


def target_of(step: AgentStep, ctx: StepContext) -> Target:
    """Resolve the model a step talks to; raises InputError when its key or provider is missing."""
    pipeline = ctx.run.pipeline
    agent = pipeline.agent(step.agent)
    return resolve_target(
        agent.source,
        agent=agent,
        prices=pipeline.prices,
        default_model=pipeline.defaults.model,
        base_dir=pipeline.base_dir,
    )


async def run_agent_step(step: AgentStep, ctx: StepContext) -> StepEnd:
    """Hold the step's conversation and judge it by what it owed and asserted."""
    agent = ctx.run.pipeline.agent(step.agent)
    target = target_of(step, ctx)
    tools = build_tools(agent.tools, selected=step.tools, functions=ctx.run.functions)
    client = ModelClient(target)
    try:
        with ctx.deadline_held():  # fetching a local model may take longer than the step is allowed
            await client.prepare(lambda text: ctx.emit(Note(text=text)))
        window = await client.context_window()
        asserted = step.assert_
        obligations = Obligations(
            required=[tool.name for tool in tools if tool.required],
            files=asserted.files if asserted else (),
            calls=owed_calls(asserted) if asserted else (),
            nudge=bool(asserted and asserted.nudge),
            has_file=ctx.has_file,
            is_constrained=target.tool_mode == "json",
            tools=[tool.name for tool in tools],
        )
        deps = AgentDeps(
            chat=client.open([tool.spec for tool in tools]),
            model=target.label,
            messages=step.messages,
            tools=_runner(step, agent, tools, ctx),
            emit=ctx.emit,
            obligations=obligations,
            max_turns=_first_set(step.max_turns, agent.max_turns, default=MAX_TURNS),
            window=window,
            is_free=target.price is not None and not (target.price.input or target.price.output),
        )
        text = build_system_text(
            agent.system, inputs=step.inputs, outputs=step.outputs, timeout_s=agent_timeout_s(step, agent)
        )
        ctx.emit(MessageAdded(role="system", text=text))
        return _judge(step, await run_agent(deps, [system(text)]), obligations, ctx)
    finally:
        await client.close()


def _runner(step: AgentStep, agent: Agent, tools: tuple[Tool, ...], ctx: StepContext) -> ToolRunner:
    ask = _asker(_first_set(step.max_questions, agent.max_questions, default=MAX_QUESTIONS), agent.name, ctx)
    context = ToolContext(root=ctx.directory.root, ask=ask)
    return ToolRunner(tools, context=context, emit=ctx.emit, settle=ctx.run.recorder.settle)


def _asker(max_questions: int, agent: str, ctx: StepContext) -> Callable[[AskRequest], Awaitable[AskReply]]:
    """Return the way this step asks; its deadline stands still while somebody is waited on."""
    asked, recorder = 0, ctx.run.recorder

    async def ask(request: AskRequest) -> AskReply:
        nonlocal asked
        if asked >= max_questions:
            note = f"this step may ask {max_questions} questions (`max_questions`) and has asked them; decide yourself"
            return AskReply(answered=False, answer="", source="refused", note=note)
        asked += 1
        ctx.run.questions += 1
        with ctx.deadline_held():
            return await ctx.run.ladder.ask(
                request,
                question_id=f"{recorder.run_id}-{ctx.run.questions}",
                agent=agent,
                emit=ctx.emit,
                settle=recorder.settle,
            )

    return ask


def _judge(step: AgentStep, result: AgentResult, obligations: Obligations, ctx: StepContext) -> StepEnd:
    match result.stop:
        case StopReason.PROVIDER:
            return StepEnd(Outcome.ERRORED, result.text, result.reason)
        case StopReason.OWED | StopReason.EMPTY:
            return StepEnd(Outcome.FAILED, result.text, result.reason)
        case StopReason.ANSWERED | StopReason.WRAPPED_UP:
            wrapped_up = result.stop is StopReason.WRAPPED_UP
            if step.assert_ is not None:
                unmet = unmet_of_step(step.assert_, text=result.text, has_file=ctx.has_file, calls=obligations.made)
                if unmet:
                    return StepEnd(Outcome.FAILED, result.text, "; ".join(unmet), wrapped_up)
            return StepEnd(Outcome.SUCCEEDED, result.text, None, wrapped_up)
