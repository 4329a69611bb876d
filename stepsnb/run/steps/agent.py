"""An `agent` step: a conversation with the tools it was granted, in the step's directory."""

from collections.abc import Sequence

from ...agent import StopReason, SyntheticCall
from ...config import Agent, AgentStep
from ...errors import WorkspaceError
from ...events import Note
from ...messages import Picture
from ...outcome import Outcome
from ...settings import MAX_CONTEXT_BYTES, MAX_QUESTIONS
from ..asserts import owed_calls, unmet_of_step
from ..context import StepContext, StepEnd
from ..conversation import Brief, Conversations, Held, first_set
from ..models import Models
from ..opening import read_context_files, read_decisions, read_images, with_messages


async def run_agent_step(step: AgentStep, ctx: StepContext) -> StepEnd:
    """Hold the step's conversation and judge it by what it owed and asserted."""
    pipeline = ctx.run.pipeline
    agent = pipeline.agent(step.agent)
    if step.dir is not None:
        ctx.dir = step.dir
        if not ctx.root.base.is_dir():
            raise WorkspaceError(f"`dir: {step.dir}` is no folder of this step's inputs or outputs")
    step = with_messages(step, ctx.directory.root)
    opening = _opening(step, agent, ctx)
    images = read_images(step, ctx.directory.root)
    models = Models(pipeline, agent, ctx.run.functions, run_id=ctx.run.recorder.run_id, cassette=ctx.run.cassette)
    ctx.run.recorder.hide(models.secrets)
    try:
        with ctx.deadline_held():  # fetching a local model may take longer than the step is allowed
            await models.prepare(lambda text: ctx.emit(Note(text=text)))
        questions = first_set(step.max_questions, agent.max_questions, default=MAX_QUESTIONS)
        conversations = Conversations(models, max_questions=int(questions))
        brief = brief_of(step, agent, opening, images, note_required=step.name in ctx.run.notes_wanted)
        return _judge(step, await conversations.hold(brief, ctx), ctx)
    finally:
        await models.close()


def brief_of(
    step: AgentStep,
    agent: Agent,
    opening: Sequence[SyntheticCall],
    images: Sequence[Picture] = (),
    *,
    note_required: bool = False,
) -> Brief:
    """Say what a step's conversation is about and what it owes."""
    asserted = step.assert_
    return Brief(
        agent=agent,
        messages=step.messages,
        selected=step.tools,
        inputs=step.inputs,
        outputs=step.outputs,
        max_turns=step.max_turns,
        attempts=step.attempts,
        timeout_s=step.timeout_s,
        opening=opening,
        images=images,
        verdicts=step.verdicts or (),
        note_required=note_required,
        output=step.output,
        files=asserted.files if asserted else (),
        calls=owed_calls(asserted) if asserted else (),
        nudge=bool(asserted and asserted.nudge),
    )


def agent_timeout_s(step: AgentStep, agent: Agent) -> float | None:
    """The step's own deadline, else its agent's, else the default; None when there is none."""
    return Brief(agent=agent, messages=(), timeout_s=step.timeout_s).deadline_s


def _opening(step: AgentStep, agent: Agent, ctx: StepContext) -> list[SyntheticCall]:
    """Gather what the conversation finds at its start. Raises WorkspaceError before anything is sent."""
    limit = int(first_set(step.max_context_bytes, agent.max_context_bytes, default=MAX_CONTEXT_BYTES))
    files = read_context_files(step, ctx.directory.root, limit or None)
    return files + (read_decisions(step.context.from_, ctx.scope.decisions) if step.context else [])


def _judge(step: AgentStep, held: Held, ctx: StepContext) -> StepEnd:
    outcome, reason = held.judge()
    result, decided = held.result, held.decided
    if outcome is Outcome.SUCCEEDED and step.assert_ is not None:
        unmet = unmet_of_step(
            step.assert_,
            text=result.text,
            has_file=ctx.has_file,
            calls=held.obligations.made,
            verdict=decided.verdict,
        )
        if unmet:
            outcome, reason = Outcome.FAILED, "; ".join(unmet)
    return StepEnd(
        outcome,
        result.text,
        reason,
        wrapped_up=result.stop is StopReason.WRAPPED_UP,
        verdict=decided.verdict,
        note=decided.note,
        data=decided.data,
        output=decided.output,
        is_final=result.stop is StopReason.BUDGET,
        fallback_model=result.fallback_model,
    )
