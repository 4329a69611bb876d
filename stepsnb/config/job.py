"""A job: a plan of steps."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from . import unsupported
from .assertion import JobAssert
from .budget import BudgetSpec
from .concept import Complaint
from .scalars import AtLeast1, DurationS, Flag, Name
from .steps import Hooked, Step
from .unsupported import Unsupported


class Job(Hooked):
    """One entry of `jobs:`; its `timeout` is looked at between steps."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.JOB

    name: Name
    plan: tuple[Step, ...]
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')
    serial: Flag = Field(default=False, description="One run of the job at a time.")
    serial_groups: tuple[Name, ...] = Field(default=(), description="Jobs that share a group run one after the other.")
    max_in_flight: AtLeast1 | None = Field(default=None, description="Runs of the job at the same time.")
    run_history: AtLeast1 | None = Field(default=None, description="Finished runs that are kept; unset: all.")
    interruptible: Flag = Field(
        default=False,
        description="The first stop of `stepsnb watch` ends its run; unset: the run ends by itself first.",
    )
    budget: BudgetSpec | None = Field(default=None, description="What all agents of a run may spend, resumed or not.")
    assert_: JobAssert | None = Field(default=None, validation_alias="assert")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse an empty plan, and two answers to how many runs there may be."""
        if not self.plan:
            yield Complaint(("plan",), "`plan:` has no steps; list at least one", ("plan",))
        if self.max_in_flight is not None and self.max_in_flight > 1 and (self.serial or self.serial_groups):
            key = "serial" if self.serial else "serial_groups"
            text = f"`max_in_flight: {self.max_in_flight}` does nothing beside `{key}:`, which means one; keep one"
            yield Complaint(("max_in_flight",), text, ("serial", "serial_groups"))
        for index, group in enumerate(self.serial_groups):
            if group in self.serial_groups[:index]:
                text = f"`{group}` stands twice in `serial_groups:`; keep one"
                yield Complaint(("serial_groups", index), text, ("serial_groups",))
