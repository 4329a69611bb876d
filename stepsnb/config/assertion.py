"""What a step, job or pipeline asserts about its own run."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from .concept import Complaint, Concept
from .scalars import AnyText, ExitCode, Flag, Name, Text, one_of

_OUTCOMES = ("succeeded", "failed", "errored", "aborted")


class ToolCallAssert(Concept):
    """One tool call that must have been made, with at least these arguments, compared as text."""

    name: Name
    args: dict[str, AnyText] = Field(default_factory=dict)


class StepAssert(Concept):
    """What must hold when a step ends; with `nudge` the model is told which files and calls it still owes."""

    stdout: Text | None = Field(default=None, description="Part of the output, or of the agent's last text.")
    code: ExitCode | None = Field(default=None, description="Exit code of a task.")
    files: tuple[Text, ...] = Field(default=(), description="Files in declared outputs, not empty.")
    tool_calls: tuple[ToolCallAssert, ...] = Field(
        default=(), description="Calls made in this order, others between them."
    )
    verdict: Name | None = Field(default=None, description="What an agent step that declares `verdicts` decides.")
    nudge: Flag = False

    def complaints(self) -> Iterator[Complaint]:
        """Refuse an assert that asserts nothing, and a nudge that names a wanted conclusion."""
        keys = ("stdout", "code", "files", "tool_calls", "verdict")
        if all(getattr(self, key) in (None, ()) for key in keys):
            text = (
                "`assert:` asserts nothing; give `stdout:`, `code:`, `files:`, `tool_calls:` or `verdict:`, "
                "or remove it"
            )
            yield Complaint((), text, keys)
        elif self.nudge and self.stdout is not None:
            text = "`nudge: true` beside `stdout:` would tell the model what to say; remove one of them"
            yield Complaint(("nudge",), text)
        elif self.nudge and self.verdict is not None:
            text = "`nudge: true` beside `verdict:` would tell the model what to decide; remove one of them"
            yield Complaint(("nudge",), text)
        elif self.nudge and not (self.files or self.tool_calls):
            yield Complaint(
                ("nudge",), "`nudge: true` has nothing to remind of; add `files:` or `tool_calls:`, or remove it"
            )


class JobAssert(Concept):
    """What must hold when a job ends."""

    execution: tuple[Name, ...] | None = Field(
        default=None, description="Names of the steps that ran, in order of completion."
    )
    outcome: Annotated[Literal["succeeded", "failed", "errored", "aborted"], one_of("outcome", *_OUTCOMES)] | None = (
        Field(default=None, description="`failed` matches errored too.")
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse an assert that asserts nothing."""
        if self.execution is None and self.outcome is None:
            yield Complaint(
                (), "`assert:` asserts nothing; give `execution:` or `outcome:`, or remove it", ("execution", "outcome")
            )


class PipelineAssert(Concept):
    """Which jobs `stepsnb test` must have run, in order."""

    execution: tuple[Name, ...]
