"""An `agent` step: a conversation."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from .. import unsupported
from ..assertion import StepAssert
from ..concept import Complaint
from ..scalars import ArtifactName, AtLeast0, DurationS, Name, Text
from ..unsupported import Unsupported
from .base import StepBase, artifact_complaints, file_complaints


def _only_message(fields: dict[str, Any]) -> tuple[str, ...]:
    return () if fields["prompt"] is None else (fields["prompt"],)


class AgentStep(StepBase):
    """Puts `messages` to an agent one after the other; `prompt` is the short form of a single one.

    `messages` always holds them; `tools` are the names the step selects, None for the agent's whole grant.
    """

    unsupported_keys: ClassVar[Unsupported] = unsupported.AGENT_STEP
    kind: ClassVar[Literal["agent"]] = "agent"

    agent: Name
    prompt: Text | None = Field(default=None, description="One message.")
    messages: tuple[Text, ...] = Field(default_factory=_only_message, description="User turns, each run to its end.")
    inputs: tuple[ArtifactName, ...] = ()
    outputs: tuple[ArtifactName, ...] = ()
    tools: tuple[Name, ...] | None = Field(default=None, description="Names out of the agent's grant.")
    max_turns: AtLeast0 | None = Field(default=None, description="0 means no cap.")
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')
    max_questions: AtLeast0 | None = None
    assert_: StepAssert | None = Field(default=None, validation_alias="assert")

    @property
    def name(self) -> str:
        """The step's name in records."""
        return self.agent

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a step that says nothing, or says it twice, and what only a task has."""
        yield from artifact_complaints(self.inputs, self.outputs)
        yield from file_complaints(self.assert_, self.outputs)
        about = ("prompt", "messages", "message_files")
        if self.prompt is not None and "messages" in self.model_fields_set:
            yield Complaint(
                ("prompt",), "has both `prompt:` and `messages:`; keep one, `prompt:` is one message", about
            )
        elif not self.messages:
            yield Complaint(("messages",), "says nothing to the agent; give `prompt:` or `messages:`", about)
        if self.assert_ and self.assert_.code is not None:
            text = "`assert.code:` is for task steps, an agent has no exit code; assert on `stdout:` or `files:`"
            yield Complaint(("assert", "code"), text, ("assert",))
        for index, name in enumerate(self.tools or ()):
            if name in (self.tools or ())[:index]:
                yield Complaint(("tools", index), f"tool `{name}` is selected twice; keep one", ("tools",))
