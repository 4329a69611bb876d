"""A matrix: one run of a step for each combination of values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from ..artifact_paths import input_file_problem
from ..concept import Complaint, Concept
from ..conversions import read_axis_name
from ..scalars import AnyText, AtLeast1, Text

AxisName = Annotated[
    str, BeforeValidator(read_axis_name), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})
]


class Axis(Concept):
    """One dimension of a matrix: its values are texts, written out or read when the step is about to run."""

    var: AxisName = Field(description="`{{ .vars.NAME }}` in the step's texts is the value of a cell.")
    values: tuple[AnyText, ...] | None = Field(default=None, description="Text as it is written.")
    from_file: Text | None = Field(default=None, description="A JSON array of strings in an input, `INPUT/FILE`.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse an axis without values, or with a value twice."""
        about = ("values", "from_file")
        if self.values is None and self.from_file is None:
            yield Complaint((), f"the axis `{self.var}` has no values; give `values:` or `from_file:`", about)
        elif self.values is not None and self.from_file is not None:
            yield Complaint(("from_file",), "has both `values:` and `from_file:`; keep one", about)
        elif self.values == ():
            yield Complaint(("values",), "`values:` is empty, so nothing would run; list at least one", about)
        for index, value in enumerate(self.values or ()):
            if value in (self.values or ())[:index]:
                yield Complaint(("values", index), f"`{value}` stands twice in `values:`; keep one", about)


class BlockBudget(Concept):
    """What all cells of a matrix may spend together."""

    tokens: AtLeast1 = Field(description="Input and output tokens of all cells.")
    reserve_per_cell: AtLeast1 | None = Field(
        default=None, description="A cell starts only when so many tokens are left for it."
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a budget with which no cell could start."""
        if self.reserve_per_cell is not None and self.reserve_per_cell > self.tokens:
            text = f"`reserve_per_cell:` is above `tokens: {self.tokens}`, so no cell could start; lower it"
            yield Complaint(("reserve_per_cell",), text, ("tokens", "reserve_per_cell"))


@dataclass(frozen=True, slots=True)
class AcrossSpec:
    """A matrix as a step declares it; the last axis varies fastest."""

    axes: tuple[Axis, ...]
    max_in_flight: int | None = None
    budget: BlockBudget | None = None


class Crossed(Concept):
    """A step that can run once for each combination of values."""

    axes: tuple[Axis, ...] | None = Field(
        default=None, validation_alias="across", description="One run for each combination; the last varies fastest."
    )
    max_in_flight: AtLeast1 | None = Field(default=None, description="Cells that run at the same time.")
    budget: BlockBudget | None = Field(default=None, description="For all cells together.")

    @property
    def across(self) -> AcrossSpec | None:
        """The matrix; None for a step that runs once."""
        return None if self.axes is None else AcrossSpec(self.axes, self.max_in_flight, self.budget)


def across_complaints(step: Crossed, inputs: tuple[str, ...] | None) -> Iterator[Complaint]:
    """Refuse a matrix without cells, and its keys where there is none.

    `inputs` are those the step declares; None when it has every artifact.
    """
    if step.axes is None:
        for key in ("max_in_flight", "budget"):
            if getattr(step, key) is not None:
                text = f"`{key}:` is for a matrix and this step has no `across:`; remove it"
                yield Complaint((key,), text, ("across",))
        return
    if not step.axes:
        yield Complaint(("across",), "`across:` is empty; list axes such as `{var: NAME, values: […]}`", ("across",))
    for index, axis in enumerate(step.axes):
        if axis.var in (each.var for each in step.axes[:index]):
            text = f"the axis `{axis.var}` stands twice in `across:`; keep one"
            yield Complaint(("across", index, "var"), text, ("across",))
        if axis.from_file is not None:
            problem = input_file_problem(axis.from_file, inputs)
            if problem is not None:
                text = f"`from_file: {axis.from_file}` {problem}"
                yield Complaint(("across", index, "from_file"), text, ("across", "inputs"))
