"""An `agent` step: a conversation."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from ...settings import ATTEMPTS, MAX_CONTEXT_BYTES
from ...suggest import unknown_name
from .. import unsupported
from ..assertion import StepAssert
from ..concept import Complaint
from ..conversions import bad_value, read_name
from ..grants import Selected
from ..output import Output, schema_complaints
from ..scalars import ArtifactName, AtLeast0, Attempts, DurationS, Name, Text
from ..tree import Entries
from ..unsupported import Unsupported
from ..wording import not_supported
from .base import StepBase, artifact_complaints, file_complaints
from .context import StepContextFrom, context_path_complaints


def _only_message(fields: dict[str, Any]) -> tuple[str, ...]:
    return () if fields["prompt"] is None else (fields["prompt"],)


def _verdict(raw: Any) -> Any:
    if isinstance(raw, Entries):
        raise bad_value(not_supported("(a verdict with a target)", "write the name alone, the steps follow in order"))
    return read_name(raw)


class AgentStep(StepBase):
    """Puts `messages` to an agent one after the other; `prompt` is the short form of a single one.

    `messages` always holds them; `tools` are what the step selects, None for the agent's whole grant.
    """

    unsupported_keys: ClassVar[Unsupported] = unsupported.AGENT_STEP
    kind: ClassVar[Literal["agent"]] = "agent"

    attempts: Attempts | None = Field(
        default=None, description=f"Requests for one reply while they fail; beats the agent's, unset: {ATTEMPTS}."
    )
    agent: Name
    prompt: Text | None = Field(default=None, description="One message.")
    messages: tuple[Text, ...] = Field(default_factory=_only_message, description="User turns, each run to its end.")
    inputs: tuple[ArtifactName, ...] = ()
    outputs: tuple[ArtifactName, ...] = ()
    tools: tuple[Selected, ...] | None = Field(
        default=None, description="Names out of the agent's grant, and custom tools of the step's own."
    )
    max_turns: AtLeast0 | None = Field(default=None, description="0 means no cap.")
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')
    max_questions: AtLeast0 | None = None
    verdicts: tuple[Annotated[Name, BeforeValidator(_verdict)], ...] | None = Field(
        default=None, description="What the agent decides between; it must give one of them."
    )
    context: StepContextFrom | None = Field(
        default=None, description="Decisions of other steps, there before the first message."
    )
    context_paths: tuple[Text, ...] = Field(
        default=(), description="Files of inputs that the agent has read before its first message."
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
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools it selects or brings along, in order; none when it takes the agent's whole grant."""
        return tuple(each if isinstance(each, str) else each.name for each in self.tools or ())

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a step that says nothing, or says it twice, and what only a task has."""
        yield from artifact_complaints(self.inputs, self.outputs)
        yield from file_complaints(self.assert_, self.outputs)
        yield from context_path_complaints(self.context_paths, self.inputs)
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

    def _message_complaints(self) -> Iterator[Complaint]:
        about = ("prompt", "messages", "message_files")
        if self.prompt is not None and "messages" in self.model_fields_set:
            yield Complaint(
                ("prompt",), "has both `prompt:` and `messages:`; keep one, `prompt:` is one message", about
            )
        elif not self.messages:
            yield Complaint(("messages",), "says nothing to the agent; give `prompt:` or `messages:`", about)

    def _verdict_complaints(self) -> Iterator[Complaint]:
        verdicts = self.verdicts or ()
        if self.verdicts == ():
            yield Complaint(("verdicts",), "`verdicts:` is empty; list the names to decide between, or remove it")
        for index, name in enumerate(verdicts):
            if name in verdicts[:index]:
                yield Complaint(("verdicts", index), f"`{name}` stands twice in `verdicts:`; keep one", ("verdicts",))
        wanted = self.assert_.verdict if self.assert_ else None
        if wanted is None or wanted in verdicts:
            return
        if verdicts:
            text = unknown_name("verdict", wanted, verdicts)
        else:
            text = "`assert.verdict:` needs a decision and this step declares none; list the names in `verdicts:`"
        yield Complaint(("assert", "verdict"), text, ("verdicts", "assert"))
