"""`%steps watch` in its cell: waits for something new, and shows each run that this starts.

However long it goes on, the cell holds one table of the last runs and the latest run in full.
"""

import asyncio
import html
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from IPython.display import clear_output

from ..api.watching import Check, Pause, Start, rounds
from ..errors import StepsError
from ..settings import STOP_PROMPT_S, WATCH_RUNS_SHOWN
from ..view.words import count_words
from ..visible import one_line
from .cell import POLL_S, CellRun, forget_interrupt
from .display import Bundle, CellOutput
from .errors import Interrupted

if TYPE_CHECKING:
    from ..api.due import Watch
    from ..engine import EngineTask

_IDLE_S = 0.1
"""How often a cell that waits for the next check looks for a stop; short against what a person notices."""

_CELL_CHARACTERS = 200


class CellWatch:
    """Watches the jobs of `watched`; `run_job` prepares the run of one of them as its cell shows it."""

    def __init__(self, watched: "Watch", run_job: Callable[[str], CellRun], *, once: bool) -> None:
        self._watched = watched
        self._run_job = run_job
        self._once = once
        self._output = CellOutput()
        self._display_id = f"stepsnb-{uuid.uuid4().hex[:12]}"
        self._check: EngineTask[bool] | None = None
        self._rows: deque[tuple[str, ...]] = deque(maxlen=WATCH_RUNS_SHOWN)
        self._problems: dict[str, str] = {}
        self._count = 0
        self._state = "checked once" if once else "an interrupt ends it"
        self._is_stopped = False

    def wait(self) -> None:
        """Watch, blocking. Raises: Interrupted, once an interrupt has stopped what was under way."""
        try:
            for pause_s, cell in self._parts():
                if cell is None:
                    time.sleep(pause_s)
                    continue
                with self._noting(cell):
                    cell.wait()
        except KeyboardInterrupt as exc:
            raise self._interrupted() from exc

    async def wait_awaited(self) -> None:
        """Watch while the kernel's loop stays free; raises as `wait` does."""
        try:
            for pause_s, cell in self._parts():
                if cell is None:
                    await asyncio.sleep(pause_s)
                    continue
                with self._noting(cell):
                    await cell.wait_awaited()
        except (asyncio.CancelledError, KeyboardInterrupt) as exc:
            forget_interrupt()
            raise self._interrupted() from exc

    def _parts(self) -> Iterator[tuple[float, CellRun | None]]:
        """Yield what the cell's thread has to wait for: so many seconds, or a run."""
        self._output.show(self._bundle(), display_id=self._display_id)
        for todo in rounds(self._watched, once=self._once):
            match todo:
                case Check():
                    self._check = task = self._watched.start_check(todo.job)
                    while not task.is_settled:
                        yield POLL_S, None
                    todo.is_due = self._take(todo.job, task)
                case Start():
                    if self._count:  # the run before it makes room
                        self._output.run(clear_output, wait=True)
                        self._output.show(self._bundle(), display_id=self._display_id)
                    yield 0.0, self._run_job(todo.job)
                case Pause():
                    ends = None if todo.seconds is None else time.monotonic() + todo.seconds
                    while ends is None or time.monotonic() < ends:
                        yield _IDLE_S, None
            if self._is_stopped:
                return

    def _take(self, job: str, task: "EngineTask[bool]") -> bool:
        """Return whether a job is due; a check that went wrong is told, and the watch goes on."""
        try:
            is_due = task.result()
        except StepsError as exc:
            problem, is_due = str(exc), False
        else:
            problem = ""
        if problem != self._problems.get(job, ""):
            self._problems[job] = problem
            self._draw()
        return is_due

    @contextmanager
    def _noting(self, cell: CellRun) -> Iterator[None]:
        """Put a run into the table when it has ended; one that did not succeed does not end the watch."""
        error = ""
        try:
            yield
        except StepsError as exc:
            error = str(exc)
        finally:
            self._count += 1
            run = cell.ended
            outcome = "errored" if run is None else run.outcome or ""
            self._rows.append((time.strftime("%H:%M:%S"), "" if run is None else run.run_id, outcome, error))
            if cell.was_stopped:
                self._is_stopped, self._state = True, "stopped"
            self._draw()

    def _interrupted(self) -> Interrupted:
        """Stop the check that is under way, and say how the watch ended."""
        if self._check is not None and not self._check.is_settled:
            self._check.cancel()
            self._check.wait(STOP_PROMPT_S)
        self._state = "ended by an interrupt"
        self._draw()
        return Interrupted(f"watching was ended by an interrupt, after {count_words(self._count, 'run')}")

    def _draw(self) -> None:
        self._output.replace(self._bundle(), display_id=self._display_id)

    def _bundle(self) -> Bundle:
        jobs = ", ".join(f"`{job}`" for job in self._watched.jobs)
        head = f"watching for {jobs} · {count_words(self._count, 'run')} · {self._state}"
        lines = [head, *(f"job `{job}`: {problem}" for job, problem in self._problems.items() if problem)]
        lines = [one_line(line, _CELL_CHARACTERS) for line in lines]
        rows = [[one_line(cell, _CELL_CHARACTERS) for cell in row] for row in reversed(self._rows)]
        table = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        shown = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
        return {
            "text/plain": "\n".join([*lines, *("  ".join(filter(None, row)) for row in rows)]),
            "text/html": f"{shown}<table>{table}</table>" if rows else shown,
        }
