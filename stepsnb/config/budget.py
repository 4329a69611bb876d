"""What an agent or a job may spend."""

from collections.abc import Iterator

from pydantic import Field

from .concept import Complaint, Concept
from .scalars import AtLeast1, Dollars


class BudgetSpec(Concept):
    """A ceiling: of an agent for each of its conversations and all that it delegates, of a job for the whole run."""

    tokens: AtLeast1 | None = Field(
        default=None, description="Input (cached too) and output, as the provider counts them."
    )
    usd: Dollars | None = Field(default=None, description="US dollars; every model has to have a known price then.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a budget that bounds nothing."""
        if self.tokens is None and self.usd is None:
            yield Complaint((), "`budget:` bounds nothing; give `tokens:`, `usd:` or both", ("tokens", "usd"))
        if self.usd is not None and not self.usd:
            yield Complaint(("usd",), "`budget.usd: 0` lets nothing be spent; give more, or remove the step", ("usd",))
