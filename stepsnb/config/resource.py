"""A resource: where a `get` step takes an artifact from."""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from . import unsupported
from .concept import Concept
from .conversions import bad_value, read_any_text, unknown_value
from .scalars import Name, Text
from .unsupported import Unsupported
from .wording import not_supported

RESOURCE_TYPES = ("path",)


def _type(raw: Any) -> Any:
    name = read_any_text(raw)
    if isinstance(name, str) and name in unsupported.RESOURCE_TYPES:
        raise bad_value(not_supported("(a resource type)", unsupported.RESOURCE_TYPES[name]))
    if isinstance(name, str) and name not in RESOURCE_TYPES:
        raise unknown_value("resource type", name, RESOURCE_TYPES)
    return name


class PathSource(Concept):
    """The source of type `path`: a file or folder of the user's, without what `ignore` matches."""

    path: Text = Field(description="File or folder, relative to the pipeline file.")
    ignore: tuple[Text, ...] = Field(default=(), description="Patterns of names to leave out, such as `*.log`.")


class Resource(Concept):
    """One entry of `resources:`; `source` is what its type needs."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.RESOURCE

    name: Name
    type: Annotated[str, BeforeValidator(_type)]
    source: Annotated[dict[str, Any], WithJsonSchema(PathSource.model_json_schema())]

    @field_validator("source", mode="before")
    @classmethod
    def _fits_its_type(cls, raw: Any, info: ValidationInfo) -> Any:
        if "type" not in info.data:
            return {}
        return PathSource.model_validate(raw, context=info.context).model_dump()
