"""An `approval` step: a person lets the plan go on, or not."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..concept import Concept
from ..scalars import DurationS, Name, Text
from ..tree import Scalar
from .base import StepBase


class ApprovalBlock(Concept):
    """What stands under `approval:`."""

    name: Name = Field(default="approval", description="What records and `approvals` call it.")
    message: Text | None = Field(default=None, description="What the person is asked to let happen.")
    timeout_s: DurationS | None = Field(
        default=None, validation_alias="timeout", description="How long a person is waited for; unset: without end."
    )


def _read_block(raw: Any, info: ValidationInfo) -> Any:
    if isinstance(raw, Scalar):
        return ApprovalBlock.model_validate({"name": raw}, context=info.context)
    return raw


class _OrName:
    """Adds the bare name to the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core)]}


class ApprovalStep(StepBase):
    """Waits for a person: approved goes on, rejected is failed, expired is aborted."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        "assert": "is for tasks and agents; remove it",
        "attempts": "does nothing on an approval, which is asked for once; remove it",
        "inputs": "is for steps that read artifacts; say in `message:` where to look",
        "message": "stands inside: `approval: {message: …}`",
        "timeout": "stands inside: `approval: {timeout: …}`",
        "to": "is for steps that do work; let the steps follow one another",
    }
    kind: ClassVar[Literal["approval"]] = "approval"

    block: Annotated[ApprovalBlock, BeforeValidator(_read_block), _OrName()] = Field(validation_alias="approval")

    @property
    def approval(self) -> str:
        """The name of what is to be approved."""
        return self.block.name

    @property
    def name(self) -> str:
        """The step's name in records."""
        return self.block.name

    @property
    def message(self) -> str:
        """What the person is asked to let happen."""
        return self.block.message or f"Go on after `{self.name}`?"

    @property
    def timeout_s(self) -> float | None:
        """How many seconds a person is waited for; None and 0 mean without end."""
        return self.block.timeout_s

    @property
    def attempts(self) -> None:
        """An approval is asked for once."""
        return None
