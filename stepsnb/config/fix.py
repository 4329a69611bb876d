"""The agent that repairs what a task found broken."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from .concept import Complaint, Concept
from .scalars import DurationS, Name, StepAttempts, Text
from .tree import Scalar


class FixSpec(Concept):
    """Who repairs, with what words and tools; `fix: AGENT` is the short form.

    `messages` are put to it one after the other; what the task printed is added to the first.
    """

    agent: Name = Field(description="An entry of `agents:`.")
    messages: tuple[Text, ...] = Field(default=(), description="User turns, each run to its end.")
    message_files: tuple[Text, ...] = Field(
        default=(), description="The same from files, relative to the pipeline file.", exclude=True, repr=False
    )
    dir: Text | None = Field(default=None, description="A directory in an input or output of the task.")
    tools: tuple[Name, ...] | None = Field(default=None, description="Names out of the agent's grant.")
    attempts: StepAttempts | None = Field(default=None, description="Requests for one reply while they fail; unset: 1.")
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a tool named twice."""
        for index, name in enumerate(self.tools or ()):
            if name in (self.tools or ())[:index]:
                yield Complaint(("tools", index), f"tool `{name}` is selected twice; keep one", ("tools",))


def _read_fix(raw: Any, info: ValidationInfo) -> Any:
    if isinstance(raw, Scalar):
        return FixSpec.model_validate({"agent": raw}, context=info.context)
    return raw


class _OrName:
    """Adds the bare name of an agent to the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core)]}


Fix = Annotated[FixSpec, BeforeValidator(_read_fix), _OrName()]
