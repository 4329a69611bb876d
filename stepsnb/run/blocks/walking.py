"""What a block needs of the walker that runs its steps."""

from typing import Protocol

from ...outcome import Outcome
from ...plan import Node
from ..context import RunContext
from ..results import StepResult
from ..scope import Scope


class Walking(Protocol):
    """Runs the steps inside a block."""

    run: RunContext

    def next_id(self) -> str:
        """Make the id of one more step of the run."""
        ...

    def is_overdue(self) -> bool:
        """Whether nothing more may be begun."""
        ...

    def is_over(self, step_id: str) -> bool:
        """Whether the block is only gone through again, since it came to its end in an earlier part of the run."""
        ...

    async def run_node(self, node: Node, scope: Scope, *, parent_id: str | None = None) -> StepResult:
        """Run one step with its guard, attempts and hooks."""
        ...

    async def run_branch(self, node: Node, scope: Scope, *, parent_id: str) -> StepResult:
        """Run a branch or cell, perhaps in another process."""
        ...

    def refuse(
        self, node: Node, scope: Scope, outcome: Outcome, refusal: str, *, parent_id: str | None = None
    ) -> StepResult:
        """Record a step that did not get to its own work."""
        ...
