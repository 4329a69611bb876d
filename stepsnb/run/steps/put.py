"""A `put` step: publishes from the step's inputs through a resource."""

from ...config import PutStep
from ...errors import ResourceError
from ...outcome import Outcome
from ..context import StepContext, StepEnd


async def run_put_step(step: PutStep, ctx: StepContext) -> StepEnd:
    """Publish, and remember the version that made; a program that says no makes the step *failed*."""
    try:
        version = await ctx.run.versions.publish(step, ctx.directory, ctx.emit, variables=ctx.coordinates)
    except ResourceError as exc:
        if not exc.has_failed:
            raise
        return StepEnd(Outcome.FAILED, reason=str(exc))
    return StepEnd(Outcome.SUCCEEDED, version)
