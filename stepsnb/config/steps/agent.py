"""An `agent` step: a conversation."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ...settings import ATTEMPTS, MAX_CONTEXT_BYTES
from ...suggest import unknown_name
from ..artifact_paths import directory_problem, is_open
from ..assertion import StepAssert
from ..concept import Complaint, Concept
from ..grants import Selected
from ..output import Output, schema_complaints
from ..scalars import AnyText, ArtifactName, AtLeast0, Attempts, DurationS, Flag, Name, Text, VariableName
from .across import Crossed, across_complaints
from .base import Bounded, StepBase, artifact_complaints, file_complaints
from .cells import template_complaints
from .context import StepContextFrom, input_file_complaints
from .routes import Routed, Verdicts, names_of_verdicts, routes_of_verdicts, verdict_complaints


class ArtifactFile(Concept):
    """A file of an input, read when the step is about to run."""

    artifact: ArtifactName
    path: Text = Field(description="From the top of the artifact on.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a path out of the artifact."""
        path = PurePosixPath(self.path)
        if path.is_absolute() or ".." in path.parts or "\\" in self.path or not path.parts:
            text = f"`path: {self.path}` leads out of the artifact; write a relative path without `..`"
            yield Complaint(("path",), text)


class _OrPath:
    """Adds the path of a file beside the pipeline to the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core)]}


def _only_message(fields: dict[str, Any]) -> tuple[str, ...]:
    return () if fields["prompt"] is None else (fields["prompt"],)


class AgentStep(Crossed, Routed, Bounded, StepBase):
    """Puts `messages` to an agent one after the other; `prompt` is the short form of a single one.

    `messages` always holds them, those that stood in files included; `message_files` of artifacts come after them.
    `tools` are what the step selects, None for the agent's whole grant.
    """

    misplaced_keys: ClassVar[dict[str, str]] = {
        **dict.fromkeys(
            ("container_limits", "image", "network", "privileged", "user"), "is set on the agent; write it there"
        ),
        "fallback": "is set on the agent; write it there",
        "retry": "is set on the agent; write it there",
        "run": "is for tasks; say in `messages:` what to do",
        "system": "is set on the agent; write it there",
    }
    kind: ClassVar[Literal["agent"]] = "agent"

    attempts: Attempts | None = Field(
        default=None, description=f"Requests for one reply while they fail; beats the agent's, unset: {ATTEMPTS}."
    )
    agent: Name
    prompt: Text | None = Field(default=None, description="One message.")
    messages: tuple[Text, ...] = Field(default_factory=_only_message, description="User turns, each run to its end.")
    message_files: tuple[Annotated[ArtifactFile, _OrPath()], ...] = Field(
        default=(), description="The same from files: beside the pipeline file, or `{artifact, path}` in an input."
    )
    dir: Text | None = Field(
        default=None, description="Where it works: a directory in an input or output; tool paths begin there."
    )
    inputs: tuple[ArtifactName, ...] = ()
    outputs: tuple[ArtifactName, ...] = ()
    tools: tuple[Selected, ...] | None = Field(
        default=None, description="Names out of the agent's grant, and custom tools of the step's own."
    )
    max_turns: AtLeast0 | None = Field(default=None, description="0 means no cap.")
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')
    max_questions: AtLeast0 | None = None
    env: dict[VariableName, AnyText] = Field(default_factory=dict, description="Environment of its programs.")
    volatile: Flag = Field(default=False, description="Run it each time, whatever was kept of earlier runs.")
    entries: Verdicts | None = Field(
        default=None,
        validation_alias="verdicts",
        description="What the agent decides between: names, or `NAME: STEP` to go on with; `failure: STEP` catches.",
    )
    context: StepContextFrom | None = Field(
        default=None, description="Decisions of other steps, there before the first message."
    )
    context_paths: tuple[Text, ...] = Field(
        default=(), description="Files of inputs that the agent has read before its first message."
    )
    images: tuple[Text, ...] = Field(
        default=(), description="Images in inputs, `INPUT/FILE`, that go with its first message: PNG, JPEG, GIF, WebP."
    )
    max_context_bytes: AtLeast0 | None = Field(
        default=None, description=f"Of each of these files; beats the agent's, unset: {MAX_CONTEXT_BYTES:,}, 0: all."
    )
    output: Output | None = Field(
        default=None, description="What it hands in as data: a JSON Schema, or `python: NAME` of a pydantic model."
    )
    assert_: StepAssert | None = Field(default=None, validation_alias="assert")

    @property
    def name(self) -> str:
        """The step's name in records."""
        return self.agent

    @property
    def verdicts(self) -> tuple[str, ...] | None:
        """What the agent decides between, in order; None when it decides nothing."""
        return None if self.entries is None else names_of_verdicts(self.entries)

    @property
    def routes(self) -> Mapping[str, str]:
        """Targets by verdict, and by `failure`."""
        return routes_of_verdicts(self.entries or ())

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools it selects or brings along, in order; none when it takes the agent's whole grant."""
        return tuple(each if isinstance(each, str) else each.name for each in self.tools or ())

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a step that says nothing, or says it twice, and what only a task has."""
        yield from artifact_complaints(self.inputs, self.outputs)
        yield from file_complaints(self.assert_, self.outputs)
        yield from input_file_complaints("context_paths", self.context_paths, self.inputs)
        yield from input_file_complaints("images", self.images, self.inputs)
        yield from across_complaints(self, self.inputs)
        yield from template_complaints(self)
        yield from self._place_complaints()
        yield from self._message_complaints()
        yield from self._verdict_complaints()
        if self.output is not None and self.output.schema is not None:
            for path, text in schema_complaints(self.output.schema):
                yield Complaint(("output", *path), text)
        if self.max_context_bytes is not None and not self.context_paths:
            text = "`max_context_bytes:` does nothing without `context_paths:`; remove it, or write it on the agent"
            yield Complaint(("max_context_bytes",), text, ("context_paths",))
        if self.assert_ and self.assert_.code is not None:
            text = "`assert.code:` is for task steps, an agent has no exit code; assert on `stdout:` or `files:`"
            yield Complaint(("assert", "code"), text, ("assert",))
        for index, name in enumerate(self.tool_names):
            if name in self.tool_names[:index]:
                yield Complaint(("tools", index), f"tool `{name}` is selected twice; keep one", ("tools",))

    def _place_complaints(self) -> Iterator[Complaint]:
        if self.dir is not None and (problem := directory_problem(self.dir, (*self.inputs, *self.outputs))):
            yield Complaint(("dir",), f"`dir: {self.dir}` {problem}", ("dir", "inputs", "outputs"))
        for index, file in enumerate(self.message_files):
            if file.artifact not in self.inputs and not is_open(file.artifact):
                have = (
                    f"declared: {', '.join(self.inputs)}" if self.inputs else f"add it to `inputs: [{file.artifact}]`"
                )
                text = f"`artifact: {file.artifact}` of `message_files:` is no input of this step; {have}"
                yield Complaint(("message_files", index, "artifact"), text, ("message_files", "inputs"))

    def _message_complaints(self) -> Iterator[Complaint]:
        about = ("prompt", "messages", "message_files")
        if self.prompt is not None and "messages" in self.model_fields_set:
            yield Complaint(
                ("prompt",), "has both `prompt:` and `messages:`; keep one, `prompt:` is one message", about
            )
        elif not self.messages and not self.message_files:
            yield Complaint(("messages",), "says nothing to the agent; give `prompt:` or `messages:`", about)

    def _verdict_complaints(self) -> Iterator[Complaint]:
        yield from verdict_complaints(self.entries)
        verdicts = self.verdicts or ()
        if self.entries is not None and self.to is not None:
            text = "`to:` beside `verdicts:` says twice what follows; write `verdicts: [NAME: STEP, failure: STEP]`"
            yield Complaint(("to",), text, ("to", "verdicts"))
        if self.axes is not None and self.routes:
            text = "each cell decides for itself, so `verdicts:` beside `across:` cannot route; remove the targets"
            yield Complaint(("verdicts",), text, ("across", "verdicts"))
        wanted = self.assert_.verdict if self.assert_ else None
        if wanted is None or wanted in verdicts:
            return
        if verdicts:
            text = unknown_name("verdict", wanted, verdicts)
        else:
            text = "`assert.verdict:` needs a decision and this step declares none; list the names in `verdicts:`"
        yield Complaint(("assert", "verdict"), text, ("verdicts", "assert"))
