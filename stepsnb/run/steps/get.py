"""A `get` step: a resource becomes an artifact."""

from ...config import GetStep
from ...outcome import Outcome
from ...workspace import fetch_path
from ..context import StepContext, StepEnd
from ..stopping import finish_in_thread


async def run_get_step(step: GetStep, ctx: StepContext) -> StepEnd:
    """Fetch the resource a `get` step names; the artifact carries the step's own name."""
    pipeline = ctx.run.pipeline
    resource = pipeline.resource(step.resource)
    tree = await finish_in_thread(
        fetch_path, resource.source, name=step.name, base_dir=pipeline.base_dir, workspace=ctx.run.workspace
    )
    ctx.run.keep(tree, ctx.emit)
    return StepEnd(Outcome.SUCCEEDED)
