"""The live view of a run in its cell: shown once the front end has proved that it can talk back mid-cell."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..engine import EngineTask, engine
from ..settings import FLUSH_S, HANDSHAKE_MAX_S, HANDSHAKE_PING_S
from .display import Bundle, CellOutput, DisplayPlace

if TYPE_CHECKING:
    from ..view import Fold
    from .widgets.run_view import RunView


_KEPT = 5
"""Views of ended runs that stay reachable: a page that was loaded again, or a tab that was closed meanwhile and opened
later, knows the view but no display of its cell, and so takes no result in its place."""

_ended: "deque[tuple[CellOutput, RunView]]" = deque()


class LiveView:
    """Offers the view to the front end, keeps it current, and hands on what a person does in it.

    Messages from the front end come on the main thread or on a subshell's; they only hand a value to the engine's
    loop, where everything here lives.
    """

    def __init__(self, fold: "Fold", place: DisplayPlace, *, on_stop: Callable[[], None]) -> None:
        self._fold = fold
        self._place = place
        self._output = place.output
        self._on_stop = on_stop
        self._answers: dict[str, asyncio.Future[str]] = {}
        self._proved = asyncio.Event()
        self._decided = asyncio.Event()
        self._is_shown = False
        self._view: RunView | None = None
        self._task: EngineTask[None] | None = None

    def open(self) -> None:
        """Create the view, on the cell's thread, and start talking to the front end."""
        from .widgets.run_view import RunView

        self._view = view = RunView(
            self._fold,
            on_stop=self._on_stop,
            on_answer=lambda question_id, text: engine().call(self._take_answer, question_id, text),
            on_ready=lambda: engine().call(self._proved.set),
        )
        self._task = engine().start(self._serve(view))

    async def is_live(self) -> bool:
        """Wait for the end of the handshake; whether clicks arrive while the cell runs."""
        await self._decided.wait()
        return self._is_shown

    async def answer(self, question_id: str) -> str:
        """Wait for a person's answer to a question that the view shows."""
        future = self._answers.setdefault(question_id, asyncio.get_running_loop().create_future())
        try:
            return await future
        finally:
            del self._answers[question_id]

    def close(self, bundle: Bundle) -> None:
        """Put `bundle` where the view was, or show it if the view never was; on the cell's thread."""
        if self._task is not None:
            self._task.cancel()
            self._task.wait(1.0)
        self._place.show(bundle)
        if self._view is None:
            return
        if not self._is_shown:
            self._output.run(self._view.close)
            return
        self._output.run(self._view.flush)
        _ended.append((self._output, self._view))
        while len(_ended) > _KEPT:
            output, view = _ended.popleft()
            output.run(view.close)

    def _take_answer(self, question_id: str, text: str) -> None:
        future = self._answers.get(question_id)
        if future is not None and not future.done():
            future.set_result(text)

    async def _serve(self, view: "RunView") -> None:
        try:
            if not await handshake(lambda: self._output.run(view.ping), self._proved):
                return
            self._show(view)
            self._is_shown = True
        finally:
            self._decided.set()
        while True:
            await asyncio.sleep(FLUSH_S)
            self._output.run(view.flush)

    def _what_runs(self) -> str:
        run_id = self._fold.state["run_id"]
        return f"run {run_id}" if run_id else "a run"

    def _show(self, view: "RunView") -> None:
        described = self._output.run(view._repr_mimebundle_)
        bundle = dict((described[0] if isinstance(described, tuple) else described) or {})
        bundle["text/plain"] = f"{self._what_runs()} is under way; the result takes this place when it ends"
        self._place.show(bundle, is_last=False)


async def handshake(ping: Callable[[], object], proved: asyncio.Event) -> bool:
    """Ask the front end to prove that it can talk back, until it has or the time for that is over; say which."""
    # Retried: a message may leave before the front end listens for it.
    give_up_at = time.monotonic() + HANDSHAKE_MAX_S
    while not proved.is_set() and time.monotonic() < give_up_at:
        ping()
        try:
            async with asyncio.timeout(HANDSHAKE_PING_S):
                await proved.wait()
        except TimeoutError:
            continue
    return proved.is_set()
