"""A resource: something outside whose versions are fetched and published."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator
from pydantic_core import PydanticCustomError

from .concept import Complaint, Concept
from .conversions import bad_value, read_duration, read_texts_by_name
from .free import FreeMapping
from .scalars import AtLeast1, Name, Text
from .tree import Entries, Items, Scalar
from .wording import wrong_shape


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


VERSION_KEYS: Final = {"git": "ref", "path": "digest"}
"""What a version of a built-in type consists of."""

NEVER: Final = "never"


def _read_pin(raw: Any) -> Any:
    if isinstance(raw, Entries):
        if not raw:
            raise bad_value("pins nothing; write `{KEY: VALUE}` of a version, or leave it out")
        return read_texts_by_name(raw)
    if isinstance(raw, Items):
        raise bad_value(wrong_shape(raw, "a mapping"))
    if isinstance(raw, Scalar):
        raise bad_value("is no version; pin one with `{KEY: VALUE}`; `latest` and `every` belong to a `get:` step")
    return raw


def _read_check_every(raw: Any) -> Any:
    if isinstance(raw, Scalar) and raw.text == NEVER:
        return NEVER
    problem = bad_value("is no time between two checks; write it like `30s`, `5m` or `1h`, or `never`")
    try:
        seconds = read_duration(raw)
    except PydanticCustomError as exc:
        raise problem from exc
    if seconds == 0:
        raise problem
    return seconds


Pin = Annotated[dict[str, str], BeforeValidator(_read_pin), WithJsonSchema({"type": "object", "minProperties": 1})]
CheckEvery = Annotated[
    float | Literal["never"],
    BeforeValidator(_read_check_every),
    WithJsonSchema({"type": "string", "pattern": "^(never|.*[smh])$"}),
]


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

    name: Name
    type: Name = Field(description="`git`, `path`, or an entry of `resource_types:`.")
    source: FreeMapping = Field(default={}, description="Settings for its type.")
    version: Pin | None = Field(default=None, description="What `get:` steps fetch that pin none themselves.")
    version_history: AtLeast1 | None = Field(default=None, description="Versions that are kept; unset: all.")
    check_every: CheckEvery | None = Field(
        default=None, description="Time between two checks under `stepsnb watch`, or `never`."
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a built-in type without what it needs."""
        needed = {"git": "uri", "path": "path"}.get(self.type)
        if needed is not None and not self.source:
            text = f"`source:` is missing; write `source: {{{needed}: …}}`"
            yield Complaint((), text, ("source", "type"))
        key = VERSION_KEYS.get(self.type)
        if key is not None and self.version is not None and set(self.version) != {key}:
            text = f"a version of type `{self.type}` is `{{{key}: …}}`; pin it like that"
            yield Complaint(("version",), text, ("version", "type"))

    @field_validator("source", mode="before")
    @classmethod
    def _fits_its_type(cls, raw: Any, info: ValidationInfo) -> Any:
        if "type" not in info.data:
            return {}
        built_in = BUILT_IN_TYPES.get(info.data["type"])
        if built_in is None or not isinstance(raw, Entries):
            return raw
        return built_in.model_validate(raw, context=info.context).model_dump()
