"""Runs a step's or job's hooks: exactly one for its outcome, then `ensure`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from ..outcome import Outcome, worst
from ..plan import Node
from ..settings import HOOK_GRACE_S
from .results import StepResult
from .stopping import accept_stop

RunHook = Callable[[Node], Awaitable[StepResult]]

_HOOK = {
    Outcome.SUCCEEDED: "on_success",
    Outcome.REUSED: "on_success",
    Outcome.FAILED: "on_failure",
    Outcome.ERRORED: "on_error",
    Outcome.ABORTED: "on_abort",
}


async def run_hooks(hooks: Mapping[str, Node], outcome: Outcome, run: RunHook) -> tuple[Outcome, str | None]:
    """Run the hook for `outcome`, then `ensure`; return the outcome after them, with the reason where that changed.

    A step that is skipped runs none. A hook never clears a failure. `on_success` or `ensure` that fails reddens what
    was green. After an abort hooks have `HOOK_GRACE_S` seconds; a second stop cuts them.
    """
    names = [name for name in (_HOOK.get(outcome, ""), "ensure") if name in hooks]
    if not names or outcome is Outcome.SKIPPED:
        return outcome, None
    clock = asyncio.timeout(HOOK_GRACE_S if outcome is Outcome.ABORTED else None)
    reason: str | None = None
    try:
        async with clock:
            for name in names:
                ended = await run(hooks[name])
                if not ended.outcome.is_good and outcome.is_good:
                    outcome = worst([ended.outcome])
                    reason = f"hook `{name}` (step `{ended.name}`) {ended.outcome}: {ended.reason or 'no reason given'}"
    except TimeoutError:
        if not clock.expired():
            raise
    except asyncio.CancelledError:
        if outcome is not Outcome.ABORTED:
            raise
        accept_stop()
    return outcome, reason
