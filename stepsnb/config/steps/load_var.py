"""A `load_var` step: a file's text as the value of `((name))` in the steps that follow."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ..artifact_paths import input_file_problem
from ..concept import Complaint
from ..conversions import read_placeholder_name
from ..scalars import ArtifactName, Text
from .base import Bounded, StepBase, artifact_complaints

PlaceholderName = Annotated[str, BeforeValidator(read_placeholder_name), WithJsonSchema({"type": "string"})]


class LoadVarStep(Bounded, StepBase):
    """Reads `file`, a path `INPUT/FILE`, and gives its text, without the white space around it, to `((name))`."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        "assert": "is for tasks and agents; check the file in a task step before",
        "outputs": "is for steps that make artifacts; this one sets a variable",
        "to": "is for steps that do work; let the steps follow one another",
    }
    kind: ClassVar[Literal["load_var"]] = "load_var"

    load_var: PlaceholderName = Field(description="The steps that follow write it `((name))`.")
    file: Text = Field(description="`INPUT/FILE`.")
    inputs: tuple[ArtifactName, ...] = ()

    @property
    def name(self) -> str:
        """The step's name in records, and the variable's."""
        return self.load_var

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a file that is in no input."""
        yield from artifact_complaints(self.inputs, ())
        if problem := input_file_problem(self.file, self.inputs):
            yield Complaint(("file",), f"`file: {self.file}` {problem}", ("file", "inputs"))
