"""A job's steps in the order they run."""

from dataclasses import dataclass

from ..config import Job, Pipeline, Step


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


def build_plan(pipeline: Pipeline, job: str | None = None) -> Plan:
    """Plan a job, the pipeline's only one when `job` is None.

    Raises: InputError for an unknown job, or when None could mean several.
    """
    chosen = pipeline.job(job)
    steps = tuple(PlannedStep(index, step.name, step.kind, step) for index, step in enumerate(chosen.plan))
    return Plan(chosen, steps)
