"""The cell's side of a run: it shows it, asks through it, stops it and waits until it has settled.

Everything that happens belongs to the engine's thread. The cell's thread sleeps, puts `input()` prompts, and
shows the end: in an awaited cell by awaiting (so clicks arrive), in its synchronous twin by sleeping.
"""

import asyncio
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import Aborted, StepsError
from ..events import Event
from ..outcome import Outcome
from ..settings import STOP_PROMPT_S
from .asker import CellAsker, Prompts
from .display import DisplayPlace, state_bundle
from .errors import Interrupted
from .live import LiveView

if TYPE_CHECKING:
    from ..api import Run, RunHandle
    from ..people import Asker

POLL_S = 0.03
"""How often the cell's thread looks for a prompt to put or the end; short against what a person notices."""

_RESERVE_S = 0.3
"""Of the time to give the prompt back, kept for drawing the result."""

_ERROR_CHARACTERS = 2_000

_running: "weakref.WeakSet[CellRun]" = weakref.WeakSet()


class Starter(Protocol):
    """Starts a run that asks through `asker` and reports to `on_event`."""

    def __call__(self, *, asker: "Asker", on_event: Callable[[Event], None]) -> "RunHandle":
        """Start it and return at once."""
        ...


class CellRun:
    """One run as its cell sees it; `wait` or `wait_awaited` brings its end."""

    def __init__(
        self,
        start: Starter,
        *,
        shell: Any,
        on_end: "Callable[[Run], None]" = lambda run: None,
        place: DisplayPlace | None = None,
    ) -> None:
        """Prepare it: `place` is where the run is shown, below what the running cell shows already when not given."""
        from ..view import Fold

        self._start = start
        self._on_end = on_end
        self._fold = Fold()
        self._place = place or DisplayPlace()
        self._can_prompt = place is not None or can_prompt(shell)
        self._prompts = Prompts()
        self._live: LiveView | None = None
        if getattr(shell, "kernel", None) is not None and self._can_prompt:
            self._live = LiveView(self._fold, self._place, on_stop=self.stop)
        self._handle: RunHandle | None = None
        self._was_stopped = threading.Event()
        self.is_in_background = False
        """Whether the cell has gone on without it."""
        self.ended: Run | None = None
        """The run, once the cell has shown its end."""

    @property
    def was_stopped(self) -> bool:
        """Whether somebody stopped it, by a click, an interrupt or the kernel's end."""
        return self._was_stopped.is_set()

    def stop(self) -> None:
        """Cancel the run, from any thread; the cell returns once it has settled."""
        self._was_stopped.set()
        if self._handle is not None:
            self._handle.cancel()

    def wait(self) -> "Run":
        """Run to the end, blocking: the twin for `%%time`, loops and functions.

        Raises: StepsError when the run did not succeed, after showing it; Interrupted.
        """
        try:
            handle = self._begin(self._prompts if self._can_prompt else None)
            while not handle.wait(POLL_S):
                self._prompts.serve()
        except KeyboardInterrupt:
            self.stop()
            self._settle()
            return self._end(was_interrupted=True)
        return self._end()

    async def wait_awaited(self) -> "Run":
        """Run to the end while the kernel's loop stays free; raises as `wait` does."""
        try:
            handle = self._begin(self._prompts if self._can_prompt else None)
            while not handle.is_settled:
                self._prompts.serve()
                await asyncio.sleep(POLL_S)
        except (asyncio.CancelledError, KeyboardInterrupt):
            # The kernel turns its interrupt into a cancellation, except while `input()` blocks the loop.
            self.stop()
            await self._settle_awaited()
            return self._end(was_interrupted=True)
        return self._end()

    def go_on_in_background(self, *, then: Callable[[], None] = lambda: None) -> "RunHandle":
        """Start it and return at once; the view stays in the cell's output, which shows the end when it comes.

        Questions are asked in the view; where there is none they wait for an answer from elsewhere. `then` is called
        on a thread of its own when the end has been shown.
        """
        self.is_in_background = True
        handle = self._begin(prompts=None)

        def follow() -> None:
            from ..visible import one_line

            handle.wait()
            try:
                self._show_end(handle)
            except StepsError as exc:  # what the handle raises as well, for whoever keeps it
                self._place.show({"text/plain": f"the run broke off: {one_line(str(exc), _ERROR_CHARACTERS)}"})
            finally:
                then()

        threading.Thread(target=follow, name=f"stepsnb-{handle.run_id}", daemon=True).start()
        return handle

    @property
    def statuses(self) -> dict[str, str]:
        """How each step stands by its name, as the view shows it; of several with one name the last."""
        return self._fold.statuses

    def _begin(self, prompts: Prompts | None) -> "RunHandle":
        self._handle = self._start(asker=CellAsker(self._live, prompts), on_event=self._fold.apply)
        _running.add(self)
        if self._was_stopped.is_set():
            self._handle.cancel()
        if self._live is not None:
            self._live.open()
        return self._handle

    def _settle(self) -> None:
        give_up_at = time.monotonic() + STOP_PROMPT_S - _RESERVE_S
        while self._handle is not None and time.monotonic() < give_up_at:
            try:
                if self._handle.wait(POLL_S):
                    return
            except KeyboardInterrupt:  # a second one: it is stopping already
                continue

    async def _settle_awaited(self) -> None:
        give_up_at = time.monotonic() + STOP_PROMPT_S - _RESERVE_S
        while self._handle is not None and not self._handle.is_settled and time.monotonic() < give_up_at:
            try:
                await asyncio.sleep(POLL_S)
            except asyncio.CancelledError:
                continue
        forget_interrupt()

    def _end(self, *, was_interrupted: bool = False) -> "Run":
        if self._handle is None:
            raise Interrupted("interrupted before the run had started")
        _running.discard(self)
        if not self._handle.is_settled:
            self._close({"text/plain": "still stopping in the background"})
            raise Interrupted("the run is still stopping in the background; `%steps runs` shows when it has ended")
        run = self._show_end(self._handle)
        if was_interrupted:
            raise Interrupted(f"job `{run.job}` was stopped by an interrupt")
        if run.outcome is not None and not run.outcome.is_good:  # None: a cell of a run that goes on
            raise failure(run)
        return run

    def _show_end(self, handle: "RunHandle") -> "Run":
        _running.discard(self)
        self._close(state_bundle(self._fold.state))
        self.ended = run = handle.result()
        self._on_end(run)
        return run

    def _close(self, bundle: dict[str, Any]) -> None:
        if self._live is not None:
            self._live.close(bundle)
        else:
            self._place.show(bundle)


def forget_interrupt() -> None:
    """Note that the interrupt of an awaited cell is handled; later awaits of it are not to be cut by it."""
    if (task := asyncio.current_task()) is not None:
        while task.uncancel():
            continue


def failure(run: "Run") -> StepsError:
    """Build the one-line error of a cell whose run did not succeed."""
    message = f"job `{run.job}`: {run.error}" if run.error else f"job `{run.job}` {run.outcome}"
    return Aborted(message) if run.outcome == Outcome.ABORTED else StepsError(message)


def can_prompt(shell: Any) -> bool:
    """Whether `input()` can reach a person from the cell that runs now; nbclient and its kind say no."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return True
    return bool(kernel.get_parent("shell").get("content", {}).get("allow_stdin", False))


def has_front_end(shell: Any) -> bool:
    """Whether the cell that runs now has a person before it in a front end that may show widgets."""
    return getattr(shell, "kernel", None) is not None and can_prompt(shell)


def stop_running() -> None:
    """Stop every cell's run, and wait until it is recorded."""
    cells = list(_running)
    for cell in cells:
        cell.stop()
    for cell in cells:
        cell._settle()
