"""What bounds the calls of one tool, and the rules these limits share across the forms of a grant."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field

from ...settings import SPILL_CEILING_BYTES
from ..concept import Complaint, Concept
from ..conversions import read_whole
from ..retry import RetryOverride
from ..scalars import AnyText, AtLeast1, DurationS, Flag

CallDeadlineS = DurationS
"""Seconds that one call may run; 0 means no limit."""

MaxOutputBytes = Annotated[int, Field(ge=1, le=SPILL_CEILING_BYTES), BeforeValidator(read_whole)]


class LimitedGrant(Concept):
    """A tool of the user's own, whose calls can be owed, counted, pinned, bounded and repeated."""

    required: Flag = Field(default=False, description="The step fails unless a call of this tool succeeded.")
    max_calls: AtLeast1 | None = Field(default=None, description="Calls of one conversation; more are refused.")
    args: dict[str, AnyText] = Field(
        default={}, description="Pinned arguments: the model neither sees nor overrides them."
    )
    timeout_s: CallDeadlineS | None = Field(
        default=None, validation_alias="timeout", description='How long one call runs; "0" means no limit.'
    )
    max_output_bytes: MaxOutputBytes | None = Field(
        default=None, description="Of a result that goes to the model; a longer one becomes a file."
    )
    retry: RetryOverride | None = Field(default=None, description="For this tool alone, after all other layers.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse two values for the run time of a call."""
        if self.timeout_s is not None and self.retry is not None and self.retry.run_timeout_secs is not None:
            text = "`timeout:` and `retry.run_timeout_secs:` both say how long a call runs; keep `timeout:`"
            yield Complaint(("retry", "run_timeout_secs"), text, ("timeout", "retry"))
