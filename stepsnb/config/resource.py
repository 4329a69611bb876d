"""A resource: something outside whose versions are fetched and published."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from . import unsupported
from .concept import Complaint, Concept
from .free import FreeMapping
from .scalars import Name, Text
from .tree import Entries
from .unsupported import Unsupported


class PathSource(Concept):
    """The source of type `path`: a file or folder of the user's, without what `ignore` matches."""

    path: Text = Field(description="File or folder, relative to the pipeline file.")
    ignore: tuple[Text, ...] = Field(default=(), description="Patterns of names to leave out, such as `*.log`.")


class GitSource(Concept):
    """The source of type `git`: a repository and the branch whose commits are its versions."""

    uri: Text = Field(description="What `git clone` takes.")
    branch: Text | None = Field(default=None, description="Unset: the repository's own default.")


BUILT_IN_TYPES: Final[dict[str, type[PathSource | GitSource]]] = {"git": GitSource, "path": PathSource}

GIT_PARAMS: Final[dict[str, tuple[str, ...]]] = {"get": ("depth",), "put": ("branch", "force", "repository")}
"""What `params:` of steps with a `git` resource may set, by kind of step."""


class Resource(Concept):
    """One entry of `resources:`; `source` is what its type needs."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {
                    "if": {"properties": {"type": {"const": name}}},
                    "then": {"properties": {"source": source.model_json_schema()}},
                }
                for name, source in BUILT_IN_TYPES.items()
            ]
        }
    )

    unsupported_keys: ClassVar[Unsupported] = unsupported.RESOURCE

    name: Name
    type: Name = Field(description="`git`, `path`, or an entry of `resource_types:`.")
    source: FreeMapping = Field(default={}, description="Settings for its type.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a built-in type without what it needs."""
        needed = {"git": "uri", "path": "path"}.get(self.type)
        if needed is not None and not self.source:
            text = f"`source:` is missing; write `source: {{{needed}: …}}`"
            yield Complaint((), text, ("source", "type"))

    @field_validator("source", mode="before")
    @classmethod
    def _fits_its_type(cls, raw: Any, info: ValidationInfo) -> Any:
        if "type" not in info.data:
            return {}
        built_in = BUILT_IN_TYPES.get(info.data["type"])
        if built_in is None or not isinstance(raw, Entries):
            return raw
        return built_in.model_validate(raw, context=info.context).model_dump()
