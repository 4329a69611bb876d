"""What says how a task runs: the keys a `task` step shares with an entry of `tasks:`."""

from typing import Final

from pydantic import Field

from .fix import Fix
from .image import Contained
from .scalars import ArtifactName, DurationS, Flag, StepAttempts, Text


class TaskKeys(Contained):
    """A shell program, what goes in and out, and what repairs it."""

    run: Text = Field(default="", description="The program, for `sh -c`.")
    run_file: Text | None = Field(
        default=None, description="A file that holds it, relative to the pipeline file.", exclude=True, repr=False
    )
    inputs: tuple[ArtifactName, ...] = ()
    outputs: tuple[ArtifactName, ...] = ()
    input_mapping: dict[ArtifactName, ArtifactName] = Field(
        default={}, description="`INPUT: ARTIFACT` where they have different names."
    )
    output_mapping: dict[ArtifactName, ArtifactName] = Field(
        default={}, description="`OUTPUT: ARTIFACT` where they have different names."
    )
    attempts: StepAttempts | None = Field(default=None, description="How often it is tried; unset: once.")
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')
    fix: Fix | None = Field(default=None, description="The agent that repairs it, and then it runs once more.")
    volatile: Flag = Field(default=False, description="Run it each time, whatever was kept of earlier runs.")


TASK_KEYS: Final = TaskKeys.keys()
