"""A `get` step: a version of a resource becomes an artifact."""

from ...config import GetStep
from ...errors import ResourceError
from ...outcome import Outcome
from ..context import StepContext, StepEnd


async def run_get_step(step: GetStep, ctx: StepContext) -> StepEnd:
    """Fetch the resource a `get` step names; the artifact carries the step's own name.

    A program of the resource's type that says no makes the step *failed*. Raises: ResourceError for what broke.
    """
    try:
        tree, _ = await ctx.run.versions.fetch(step, ctx.emit)
    except ResourceError as exc:
        if not exc.has_failed:
            raise
        return StepEnd(Outcome.FAILED, reason=str(exc))
    ctx.run.keep(tree, ctx.emit)
    ctx.scope.keep(tree)
    return StepEnd(Outcome.SUCCEEDED)
