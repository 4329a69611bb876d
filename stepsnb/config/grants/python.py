"""A Python function as a tool."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ..concept import Complaint
from ..conversions import read_function_name
from ..scalars import Name, Text
from .call_limits import LimitedGrant
from .tool_name import wrong_name


def _function_name(raw: Any) -> Any:
    return read_function_name(raw, "function")


class PythonGrant(LimitedGrant):
    """A Python function as a tool: one of the notebook by its name, or `module:function`."""

    python: Annotated[Text, BeforeValidator(_function_name)]
    given_name: Name | None = Field(
        default=None, validation_alias="name", description="What the model calls it; unset: the function's own name."
    )
    description: Text | None = Field(default=None, description="What the model reads; unset: the docstring.")

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.given_name or self.python.rpartition(":")[2]

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a name no model could call it by."""
        yield from super().complaints()
        if text := wrong_name(self.name, "give it another with `name:`"):
            yield Complaint(("name" if self.given_name else "python",), text, ("name", "python"))
