"""Runs as callers hold them: finished, under way, or open between two cells."""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import Pipeline, load_steps
from ..engine import EngineTask, engine
from ..errors import InputError
from ..events import Artifact, Emit, Event
from ..outcome import Outcome
from ..run import Decision, JobRun, RunResult, StepResult, total_cost_usd, total_usage
from ..settings import INTERRUPT_POLL_S, STOP_PROMPT_S
from ..usage import Usage
from ..visible import visible
from ..workspace import ArtifactTree
from .changes import Changes, changes_of
from .options import RunPlace, secrets_of

if TYPE_CHECKING:
    import pandas as pd


class Run:
    """A run and what it left behind. An open run (between two cells) has outcome None."""

    def __init__(self, result: RunResult, place: RunPlace) -> None:
        self._result = result
        self._place = place  # keeps the files of a run that is not stored alive

    @property
    def run_id(self) -> str:
        """The id the run is stored under."""
        return self._result.run_id

    @property
    def job(self) -> str:
        """Name of the job."""
        return self._result.job

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None while it is open."""
        return self._result.outcome

    @property
    def error(self) -> str | None:
        """Why it did not succeed, in one message."""
        return self._result.error

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """The steps that ran, in order."""
        return self._result.steps

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order, without the streamed deltas."""
        return self._result.events

    @property
    def text(self) -> str | None:
        """The last text of the last agent step, or the output of the last task when no agent ran."""
        texts = [step for step in self.steps if step.text is not None]
        agents = [step for step in texts if step.kind == "agent"]
        return (agents or texts or [StepResult("", "", "", Outcome.SKIPPED)])[-1].text

    @property
    def verdict(self) -> str | None:
        """The last verdict a step gave."""
        return next((step.verdict for step in reversed(self.steps) if step.verdict), None)

    @property
    def note(self) -> str | None:
        """The note that came with the last verdict."""
        return next((step.note for step in reversed(self.steps) if step.note), None)

    @property
    def data(self) -> object:
        """Typed output of the last step that declares one: an instance of its model, or what its schema describes."""
        return next((step.data for step in reversed(self.steps) if step.data is not None), None)

    @property
    def files(self) -> dict[str, Path]:
        """Every file of every artifact: `artifact/path` -> where it is kept. Copy it; do not write there.

        Of artifacts with the same name it is the last one's.
        """
        last = {event.name: event for event in self.events if isinstance(event, Artifact)}
        return {
            f"{event.name}/{name}": self._result.artifacts[event.name] / name
            for event in last.values()
            for name in event.files
        }

    @property
    def tokens(self) -> Usage:
        """Tokens of all requests, in disjoint classes."""
        return total_usage(self.events)

    @property
    def cost(self) -> Decimal | None:
        """US dollars of all requests; None when the price of any model is unknown."""
        return total_cost_usd(self.events)

    def changes(self, step: str | None = None) -> Changes:
        """Compare what a step (every one when not named) left with what it had of the same artifact before.

        Shown in a cell it is a diff; `%steps copy` takes the files out.

        Raises: InputError for a step that has not run, or when files of the run are gone.
        """
        return changes_of(self.events, self._place.root, step)

    def df(self) -> "pd.DataFrame":
        """One row a step: step_id, name, kind, outcome, reason, verdict, note, text (all strings).

        Control characters are shown as signs; `.steps` has the texts as they were.
        """
        import pandas as pd

        columns = ["step_id", "name", "kind", "outcome", "reason", "verdict", "note", "text"]
        # `outcome` is an enum, which a column would keep as it is.
        rows = [[None if (v := getattr(step, n)) is None else visible(str(v)) for n in columns] for step in self.steps]
        return pd.DataFrame(rows, columns=columns, dtype="string")

    def to_json(self) -> dict[str, object]:
        """What `run --json` prints; the keys are an interface others rely on."""
        tokens, cost = self.tokens, self.cost
        return {
            "run_id": self.run_id,
            "job": self.job,
            "outcome": None if self.outcome is None else self.outcome.value,
            "steps": [
                {
                    "name": step.name,
                    "kind": step.kind,
                    "outcome": step.outcome.value,
                    "verdict": step.verdict,
                    "note": step.note,
                    "response": step.text,
                    "reason": step.reason,
                }
                for step in self.steps
            ],
            "tokens": {
                "input": tokens.input_tokens,
                "cached_input": tokens.cached_input_tokens,
                "cache_write": tokens.cache_write_tokens,
                "output": tokens.output_tokens,
            },
            "cost_usd": None if cost is None else float(cost),
            "error": self.error,
        }

    def to_text(self) -> str:
        """What a cell shows of it, as plain text: its headline, its steps and their transcripts."""
        from ..view import render_text

        return render_text(self._view())

    def __repr__(self) -> str:
        return f"<Run {self.run_id} of job {self.job}: {self.outcome or 'open'}, {len(self.steps)} steps>"

    def _repr_html_(self) -> str:
        from ..view import render_html

        return render_html(self._view())

    def _view(self) -> dict[str, Any]:
        from ..view import Fold

        fold = Fold()
        for event in self.events:
            fold.apply(event)
        return fold.state


class RunHandle:
    """A run, or a part of one, that is under way on the engine. Await it, or wait for it from sync code."""

    def __init__(
        self, run_id: str, task: EngineTask[RunResult], place: RunPlace, watch: Callable[[Emit], None]
    ) -> None:
        self.run_id = run_id
        self._task = task
        self._place = place
        self._watch = watch

    @property
    def is_settled(self) -> bool:
        """Whether it has ended, its cleanup included."""
        return self._task.is_settled

    @property
    def store(self) -> Path:
        """The folder its run is kept in."""
        return self._place.root

    def watch(self, on_event: Emit) -> None:
        """Have `on_event` called with every event of the run, those of before first, on the engine's thread.

        What it raises later than that ends the run and reaches whoever waits for it.
        """
        engine().call(self._watch, on_event)

    def cancel(self) -> None:
        """Stop it, from any thread: the run ends as aborted once it has cleaned up."""
        self._task.cancel()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until it has settled; False when `timeout_s` passed first."""
        return self._task.wait(timeout_s)

    def result(self) -> Run:
        """Block until it has ended and return the run; an interrupt stops the run first."""
        try:
            return Run(self._task.result(), self._place)
        except KeyboardInterrupt:
            self.cancel()
            self.wait(STOP_PROMPT_S)
            raise

    def __repr__(self) -> str:
        return f"<RunHandle of run {self.run_id}: {'ended' if self.is_settled else 'under way'}>"

    def __await__(self) -> Generator[Any, None, Run]:
        return self._wait().__await__()

    async def _wait(self) -> Run:
        ended = asyncio.ensure_future(self._task)
        try:
            # A kernel's interrupt cancels the cell's task without waking the loop it waits on, so that one keeps awake.
            while not ended.done():
                await asyncio.wait([ended], timeout=INTERRUPT_POLL_S)
            return Run(ended.result(), self._place)
        except asyncio.CancelledError:
            self.cancel()
            # Whatever the run came to, this waiter is told of its own cancellation.
            ended.add_done_callback(lambda waited: waited.cancelled() or waited.exception())
            await asyncio.wait([ended], timeout=STOP_PROMPT_S)
            raise


class OpenRun:
    """A run that goes on from cell to cell; each part of it is a `RunHandle` of its own."""

    def __init__(self, run: JobRun, pipeline: Pipeline, place: RunPlace, variables: Mapping[str, object]) -> None:
        self._run = run
        self._pipeline = pipeline
        self._variables = variables
        self.place = place
        self._current: RunHandle | None = None
        self._cells: dict[str, str] = {}

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._run.run_id

    @property
    def remaining(self) -> list[str]:
        """Names of the steps the plan has left."""
        return self._run.remaining

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self._run.is_finished

    @property
    def artifacts(self) -> tuple[ArtifactTree, ...]:
        """What its steps left behind so far."""
        return self._run.artifacts

    @property
    def decisions(self) -> Mapping[str, Decision]:
        """What its steps decided so far, by their names."""
        return self._run.decisions

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened so far, in order, without the streamed deltas."""
        return self._run.result().events

    @property
    def job(self) -> str:
        """The job's name."""
        return self._run.result().job

    def has_run(self, name: str) -> bool:
        """Whether the plan's step of that name lies behind."""
        return self._run.has_run(name)

    def next(self) -> RunHandle:
        """Run the plan's next step; the last one ends the run."""
        return self._start(self._run.run_next)

    def step(self, name: str) -> RunHandle:
        """Run up to and including the step called `name`."""
        return self._start(lambda: self._run.run_named(name))

    def run_steps(self, text: str, *, vars: Mapping[str, object] | None = None, file: str = "<cell>") -> RunHandle:
        """Run a YAML list of steps with this run's artifacts; `vars` come on top of the run's own.

        Raises: ConfigError where the list is wrong.
        """
        variables = {**self._variables, **(vars or {})}
        steps = load_steps(text, pipeline=self._pipeline, job=None, file=file, variables=variables)
        self._run.hide(secrets_of(self._pipeline, steps))
        self._cells[text] = steps[0].name
        return self._start(lambda: self._run.run_steps(steps))

    def first_step_of(self, text: str) -> str | None:
        """Return the name of the first step of a list that ran in this run, None for one that did not."""
        return self._cells.get(text)

    def finish(self) -> RunHandle:
        """End the run where it stands; its job's assert is judged now."""
        return self._start(self._run.finish)

    def abandon(self) -> RunHandle:
        """End the run as aborted, unjudged, because nobody will go on with it."""
        return self._start(self._run.abandon)

    def leave(self, fork: "OpenRun") -> RunHandle:
        """Leave the run where it stands, without an outcome, because `fork` goes on from it."""
        return self._start(lambda: self._run.leave(fork.run_id))

    def _start(self, work: Callable[[], Coroutine[Any, Any, RunResult]]) -> RunHandle:
        if self._current is not None and not self._current.is_settled:
            raise InputError(f"run {self.run_id} is still running a step; wait for it or stop it first")
        self._current = RunHandle(self.run_id, engine().start(work()), self.place, self._run.watch)
        return self._current
