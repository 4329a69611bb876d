"""The live view of a run as a widget of its own, to be placed among others: in a tab, beside a plot, twice."""

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

from ..engine import engine
from ..errors import InputError, StepsError
from ..settings import FLUSH_S
from .display import CellOutput

if TYPE_CHECKING:
    from ..api import Run, RunHandle
    from .widgets.run_view import RunView


def live_view(run: "Run | RunHandle") -> "RunView":
    """Return a widget that shows a run, live while it is under way; several may show the same one.

    It goes wherever ipywidgets go: `ipywidgets.HBox([stepsnb.live_view(one), stepsnb.live_view(other)])`. Its Stop
    stops the run. A question of a run that was started with `parks=True` is answered in it; what a cell is asked is
    answered in the cell's own view.

    Raises: InputError for what is no run and no handle of one.
    """
    from ..api import Run, RunHandle, answer
    from ..view import Fold
    from .widgets.run_view import RunView

    fold = Fold()
    if isinstance(run, Run):
        for event in run.events:
            fold.apply(event)
        return RunView(fold, on_stop=_nothing, on_answer=_nothing, on_ready=_nothing)
    if not isinstance(run, RunHandle):
        raise InputError(f"live_view: give a run or the handle of one, not {type(run).__name__}")

    def post(question_id: str, text: str) -> None:
        with contextlib.suppress(StepsError):  # answered elsewhere meanwhile, which the view shows
            answer(question_id, text, store=run.store)

    def on_answer(question_id: str, text: str) -> None:
        threading.Thread(target=post, args=(question_id, text), daemon=True).start()

    view = RunView(fold, on_stop=run.cancel, on_answer=on_answer, on_ready=_nothing)
    run.watch(fold.apply)
    engine().start(_keep_current(view, run, CellOutput()))
    return view


async def _keep_current(view: "RunView", run: "RunHandle", output: CellOutput) -> None:
    is_over = False
    while not is_over:
        is_over = run.is_settled  # before the last look, which then shows the end
        output.run(view.flush)
        await asyncio.sleep(FLUSH_S)


def _nothing(*_: object) -> None:
    """Take what nobody waits for."""
