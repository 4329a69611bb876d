"""A `get` step: a resource as an artifact."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from .. import unsupported
from ..concept import Complaint
from ..scalars import ArtifactName, Name
from ..unsupported import Unsupported
from .base import StepBase


def _same_name(fields: dict[str, Any]) -> str:
    return str(fields["get"])


class GetStep(StepBase):
    """Fetches `resource`, by default the one of the step's own name, as the artifact `get`."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.GET
    kind: ClassVar[Literal["get"]] = "get"

    get: ArtifactName
    resource: Name = Field(default_factory=_same_name)
    params: dict[str, Any] = Field(default={}, description="Settings of the fetch; type `path` has none.")

    @property
    def name(self) -> str:
        """The step's name in records, and the artifact's."""
        return self.get

    def complaints(self) -> Iterator[Complaint]:
        """Refuse parameters nothing reads."""
        if self.params:
            text = "`params:` does nothing for a resource of type `path`; put `ignore:` into its `source:`"
            yield Complaint(("params",), text, ("params",))
