"""A job: a plan of steps."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from . import unsupported
from .assertion import JobAssert
from .concept import Complaint, Concept
from .scalars import DurationS, Name
from .steps import Step
from .unsupported import Unsupported


class Job(Concept):
    """One entry of `jobs:`; its `timeout` is looked at between steps."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.JOB

    name: Name
    plan: tuple[Step, ...]
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')
    assert_: JobAssert | None = Field(default=None, validation_alias="assert")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse an empty plan."""
        if not self.plan:
            yield Complaint(("plan",), "`plan:` has no steps; list at least one", ("plan",))
