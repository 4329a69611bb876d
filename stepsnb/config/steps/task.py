"""A `task` step: a shell program."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from ...suggest import did_you_mean
from ..artifact_paths import directory_problem
from ..assertion import StepAssert
from ..concept import Complaint
from ..image import image_complaints
from ..scalars import Name
from ..task_keys import TaskKeys
from .across import Crossed, across_complaints
from .base import StepBase, artifact_complaints, file_complaints
from .cells import template_complaints
from .context import StepContextFrom
from .routes import Routed

UPSTREAM = "upstream"
"""Directory in which a task finds the decisions it reads."""


class TaskStep(TaskKeys, Crossed, Routed, StepBase):
    """Runs `run` with `sh -c` in a directory that holds its inputs and its empty outputs.

    `run` holds the program wherever it was written: here, in a file, or in an entry of `tasks:`.
    """

    misplaced_keys: ClassVar[dict[str, str]] = {
        "file": "loads a whole entry of `tasks:`; write it there, or `run_file:` here",
        "verdicts": "is for agent steps; route a task with `to: {success: STEP, failure: STEP}`",
    }
    kind: ClassVar[Literal["task"]] = "task"

    task: Name
    context: StepContextFrom | None = Field(
        default=None, description="Decisions of agent steps, as files `upstream/STEP`."
    )
    assert_: StepAssert | None = Field(default=None, validation_alias="assert")

    @property
    def name(self) -> str:
        """The step's name in records."""
        return self.task

    def complaints(self) -> Iterator[Complaint]:
        """Refuse what only an agent can owe, and settings that would do nothing."""
        yield from artifact_complaints(self.inputs, self.outputs)
        yield from file_complaints(self.assert_, self.outputs)
        yield from image_complaints(self)
        yield from across_complaints(self, self.inputs)
        yield from template_complaints(self)
        yield from self._mapping_complaints()
        yield from self._fix_complaints()
        if self.assert_ and self.assert_.tool_calls:
            text = "`assert.tool_calls:` is for agent steps, a task calls no tools; assert on `stdout:` or `files:`"
            yield Complaint(("assert", "tool_calls"), text, ("assert",))
        elif self.assert_ and self.assert_.nudge:
            text = "`assert.nudge:` is for agent steps, a task has no model to tell; remove it"
            yield Complaint(("assert", "nudge"), text, ("assert",))
        if self.assert_ and self.assert_.verdict is not None:
            text = "`assert.verdict:` is for agent steps, a task decides nothing; assert on `stdout:` or `files:`"
            yield Complaint(("assert", "verdict"), text, ("assert",))
        if self.context is not None:
            yield from self._context_complaints(self.context)

    def _fix_complaints(self) -> Iterator[Complaint]:
        if self.fix is None and self.budget is not None:
            text = "`budget:` is for what agents spend, and this task has none; remove it"
            yield Complaint(("budget",), text, ("fix", "across"))
        if self.fix is not None and self.fix.dir is not None:
            problem = directory_problem(self.fix.dir, (*self.inputs, *self.outputs))
            if problem is not None:
                yield Complaint(("fix", "dir"), f"`fix.dir: {self.fix.dir}` {problem}", ("fix", "inputs", "outputs"))

    def _mapping_complaints(self) -> Iterator[Complaint]:
        makers: dict[str, str] = {}
        for name in self.outputs:
            artifact = self.output_mapping.get(name, name)
            if artifact in makers and makers[artifact] != name:
                text = f"the outputs `{makers[artifact]}` and `{name}` would both be the artifact `{artifact}`"
                yield Complaint(("output_mapping", name), f"{text}; give one another name", ("outputs",))
            makers.setdefault(artifact, name)
        mappings = (("input_mapping", "inputs", self.inputs), ("output_mapping", "outputs", self.outputs))
        for key, listed, names in mappings:
            for name in getattr(self, key):
                if name not in names:
                    have = f"declared: {', '.join(names)}" if names else f"add it to `{listed}:`"
                    text = f"`{name}` in `{key}:` is no entry of `{listed}:`{did_you_mean(name, names)}; {have}"
                    yield Complaint((key, name), text, (key, listed))

    def _context_complaints(self, context: StepContextFrom) -> Iterator[Complaint]:
        for key, names in (("inputs", self.inputs), ("outputs", self.outputs)):
            if UPSTREAM in names:
                text = f"`{UPSTREAM}` is where `context:` puts its files; give the artifact another name"
                yield Complaint((key, names.index(UPSTREAM)), text, (key, "context"))
        for name in context.from_:
            if name.startswith(".") or "/" in name or "\\" in name:
                text = f"the decision of `{name}` cannot be the file `{UPSTREAM}/{name}`; read it in an agent step"
                yield Complaint(("context", "from", name), text, ("context",))
