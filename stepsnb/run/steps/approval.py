"""An `approval` step: a person says yes or no before the plan goes on."""

from ...config import ApprovalStep
from ...outcome import Outcome
from ...tools import AskRequest
from ..context import StepContext, StepEnd

APPROVE, REJECT = "approve", "reject"


async def run_approval_step(step: ApprovalStep, ctx: StepContext) -> StepEnd:
    """Ask for approval; rejected is *failed*. Raises: Aborted when nobody answered in time, or nobody is here."""
    ctx.run.questions += 1
    recorder = ctx.run.recorder
    reply = await ctx.run.ladder.ask(
        AskRequest(
            step.message or f"Approve `{step.name}`?",
            (APPROVE, REJECT),
            options_required=True,
            timeout_s=step.timeout_s or 0.0,
        ),
        question_id=f"{recorder.run_id}-{ctx.run.questions}",
        agent="",
        emit=ctx.emit,
        settle=recorder.settle,
    )
    answer, _, why = reply.answer.strip().partition(":")
    if answer.strip().casefold() in (APPROVE, "approved", "yes", "y"):
        return StepEnd(Outcome.SUCCEEDED, f"approved{f': {why.strip()}' if why.strip() else ''}")
    return StepEnd(Outcome.FAILED, reason=f"rejected{f': {why.strip()}' if why.strip() else ''}")
