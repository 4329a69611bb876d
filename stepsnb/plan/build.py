"""A job's steps in the order they run."""

from dataclasses import dataclass

from ..config import GetStep, Job, Pipeline, Step


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step and its place in the plan; `index` counts from 0. Two steps may have the same name."""

    index: int
    name: str
    step_kind: str
    step: Step


@dataclass(frozen=True, slots=True)
class Plan:
    """A job and its steps, in order."""

    job: Job
    steps: tuple[PlannedStep, ...]

    @property
    def notes_wanted(self) -> frozenset[str]:
        """Names of the steps whose note another step reads, so that they have to give one."""
        return frozenset(
            sender
            for planned in self.steps
            if not isinstance(planned.step, GetStep) and planned.step.context is not None
            for sender, how_much in planned.step.context.from_.items()
            if how_much != "verdict"
        )


def build_plan(pipeline: Pipeline, job: str | None = None) -> Plan:
    """Plan a job, the pipeline's only one when `job` is None.

    Raises: InputError for an unknown job, or when None could mean several.
    """
    chosen = pipeline.job(job)
    steps = tuple(PlannedStep(index, step.name, step.kind, step) for index, step in enumerate(chosen.plan))
    return Plan(chosen, steps)
