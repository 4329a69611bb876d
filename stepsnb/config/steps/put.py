"""A `put` step: publishes to a resource."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from ..artifact_paths import input_file_problem
from ..concept import Complaint
from ..conversions import bad_value
from ..free import FreeMapping
from ..scalars import ArtifactName, Name
from ..tree import Scalar
from .across import Crossed, across_complaints
from .base import Bounded, StepBase, artifact_complaints
from .cells import template_complaints
from .routes import Routed


def _same_name(fields: dict[str, Any]) -> str:
    return str(fields["put"])


def _read_all(raw: Any) -> Any:
    if not isinstance(raw, Scalar):
        return raw
    if raw.text != "all":
        raise bad_value("must be a list or `all`; write `[a, b]`")
    return raw.text


def _form_of_inputs(raw: Any) -> str:
    return "all" if isinstance(raw, Scalar | str) else "list"


class PutStep(Crossed, Routed, Bounded, StepBase):
    """Publishes `inputs` to `resource`, by default the one of the step's own name.

    In `params` a value `{file: INPUT/FILE}` stands for the text of that file.
    """

    misplaced_keys: ClassVar[dict[str, str]] = {
        "assert": "is for tasks and agents; check the result in a step that follows",
        "outputs": "is for steps that make artifacts; a put makes none",
        "volatile": "does nothing on a put, which runs each time; remove it",
    }
    kind: ClassVar[Literal["put"]] = "put"

    put: Name
    resource: Name = Field(default_factory=_same_name)
    inputs: Annotated[
        Annotated[tuple[ArtifactName, ...], Tag("list")]
        | Annotated[Literal["all"], BeforeValidator(_read_all), Tag("all")],
        Discriminator(_form_of_inputs),
    ] = Field(default="all", description="Artifacts it sees, or `all`.")
    params: FreeMapping = Field(default={}, description="Settings of the publication, for the resource type.")

    @property
    def name(self) -> str:
        """The step's name in records."""
        return self.put

    def complaints(self) -> Iterator[Complaint]:
        """Refuse files that are in no input."""
        inputs = None if self.inputs == "all" else tuple(self.inputs)
        yield from artifact_complaints(inputs or (), ())
        yield from across_complaints(self, inputs)
        yield from template_complaints(self)
        if self.budget is not None:
            text = "`budget:` is for what agents spend, and a put has none; remove it"
            yield Complaint(("budget",), text, ("across",))
        for path, file in files_of(self.params):
            if problem := input_file_problem(file, inputs):
                yield Complaint(("params", *path, "file"), f"`file: {file}` {problem}", ("params", "inputs"))


def files_of(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the `{file: PATH}` values in parameters, each with its place."""
    if isinstance(value, dict) and value.keys() == {"file"} and isinstance(value["file"], str):
        yield path, value["file"]
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in entries:
        yield from files_of(each, (*path, key))
