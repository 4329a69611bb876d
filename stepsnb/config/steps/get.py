"""A `get` step: a version of a resource as an artifact."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ..conversions import bad_value, read_texts_by_name, unknown_value
from ..free import FreeMapping
from ..scalars import ArtifactName, Flag, Name
from ..tree import Entries, Items, Scalar
from ..wording import wrong_shape
from .base import Bounded, StepBase

_VERSIONS = ("latest", "every")


def _same_name(fields: dict[str, Any]) -> str:
    return str(fields["get"])


def _read_version(raw: Any) -> Any:
    if isinstance(raw, Entries):
        if not raw:
            raise bad_value("pins nothing; write `{KEY: VALUE}` of a version, `latest` or `every`")
        return read_texts_by_name(raw)
    if isinstance(raw, Items):
        raise bad_value(wrong_shape(raw, "`latest`, `every` or a mapping"))
    if isinstance(raw, Scalar) and raw.text not in _VERSIONS:
        raise unknown_value("version", raw.text, _VERSIONS, "; pin one with `{KEY: VALUE}`")
    return raw.text if isinstance(raw, Scalar) else raw


Version = Annotated[
    Literal["latest", "every"] | dict[str, str],
    BeforeValidator(_read_version),
    WithJsonSchema({"anyOf": [{"enum": list(_VERSIONS)}, {"type": "object", "minProperties": 1}]}),
]


class GetStep(Bounded, StepBase):
    """Fetches `resource`, by default the one of the step's own name, as the artifact `get`."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        "across": "is for tasks, puts and agents; get the resource once and use `across:` in a step that follows",
        "assert": "is for tasks and agents; check the files in a task step that follows",
        "inputs": "is for steps that read artifacts; a get makes one",
        "to": "is for steps that do work; let the steps follow one another",
    }
    kind: ClassVar[Literal["get"]] = "get"

    get: ArtifactName
    resource: Name = Field(default_factory=_same_name)
    params: FreeMapping = Field(default={}, description="Settings of the fetch, for the resource type.")
    version: Version = Field(default="latest", description="`latest`, `every` one in turn, or `{KEY: VALUE}`.")
    trigger: Flag = Field(default=False, description="A new version starts the job under `stepsnb watch`.")
    passed: tuple[Name, ...] = Field(default=(), description="Only versions that went through all of these jobs.")

    @property
    def name(self) -> str:
        """The step's name in records, and the artifact's."""
        return self.get

    @property
    def pin(self) -> Mapping[str, str] | None:
        """The version that is asked for by value; None for `latest` and `every`."""
        return None if isinstance(self.version, str) else self.version
