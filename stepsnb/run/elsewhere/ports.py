"""The ports of a step that runs elsewhere: everything it does to its run goes through one of them."""

from typing import Protocol

from ...errors import StepsError
from ...events import Event
from ...tools import AskReply, AskRequest
from .spec import Ran, StepSpec


class WorkerLost(StepsError):
    """The process that ran a step is gone; nobody knows what it did last."""

    code = "worker_lost"


class Ports(Protocol):
    """What a step can do to its run, wherever it runs.

    Two more are the run's own: a reservation is made before a spec leaves, so that a cell without room is never sent;
    a stop reaches the step as the cancellation of what runs it.
    """

    def emit(self, event: Event) -> None:
        """Record an event of the step whose id it has, and count its tokens against the budgets around it."""
        ...

    async def settle(self) -> None:
        """Wait until what was emitted is on the run's disk."""
        ...

    async def ask(self, request: AskRequest, *, step_id: str, agent: str) -> AskReply:
        """Put a question to people for a step. Raises: Aborted when nobody answered and there is no default."""
        ...


class Executor(Protocol):
    """Runs steps elsewhere; a run that has one sends it the cells of a matrix and the branches of blocks."""

    async def spawn(self, spec: StepSpec, ports: Ports) -> Ran:
        """Run a step to its end. Cancelled when the step is to stop: it waits until nothing of it runs any more.

        Raises: WorkerLost.
        """
        ...
