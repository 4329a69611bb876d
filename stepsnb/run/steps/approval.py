"""An `approval` step: a person says yes or no before the plan goes on."""

from ...config import ApprovalStep
from ...errors import InputError
from ...outcome import Outcome
from ...tools import AskRequest
from ..context import StepContext, StepEnd

APPROVE, REJECT = "approve", "reject"
_YES = (APPROVE, "approved", "yes", "y")
_NO = (REJECT, "rejected", "no", "n")


async def run_approval_step(step: ApprovalStep, ctx: StepContext) -> StepEnd:
    """Ask for approval; rejected is *failed*, and the reason a person gave is the step's.

    Raises: Aborted when nobody answered in time, or nobody is here; InputError for an answer that is neither.
    """
    reply = await ctx.run.ask(
        AskRequest(
            step.message,
            (APPROVE, REJECT),
            options_required=True,
            timeout_s=step.timeout_s or 0.0,
            takes_reason=True,
        ),
        step_id=ctx.step_id,
        agent="",
    )
    answer, _, reason = reply.answer.partition(":")
    because = f": {reason.strip()}" if reason.strip() else ""
    match answer.strip().casefold():
        case word if word in _YES:
            return StepEnd(Outcome.SUCCEEDED, f"approved{because}")
        case word if word in _NO:
            return StepEnd(Outcome.FAILED, reason=f"rejected{because}")
    raise InputError(
        f"approval `{step.name}`: `{reply.answer}` neither approves nor rejects; answer `{APPROVE}` or `{REJECT}`, "
        f"with a reason if there is one: `{REJECT}: not on a Friday`"
    )
