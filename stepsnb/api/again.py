"""Goes on with a run that ended early, or runs it again from one of its steps."""

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from ..config import load_text
from ..errors import InputError
from ..events import Event, Question, RunFinished, RunStarted, StepSkipped, StepStarted
from ..outcome import Outcome
from ..run import Past, RunSetup, handed_in, past_of
from ..run.redaction import REDACTED
from ..store import Store, hold_run, run_events, run_state
from ..suggest import unknown_name
from .options import RunOptions, store_root
from .pipeline import LoadedPipeline, load
from .run import Run, RunHandle

_YAML_SUFFIXES = (".yml", ".yaml")


@dataclass(frozen=True, slots=True)
class _Earlier:
    """A run as the store has it."""

    started: RunStarted
    events: tuple[Event, ...]
    root: Path

    def past(self, *, before: str | None = None) -> Past:
        """Return what it got done, with what it took over from the run it was forked from."""
        own = past_of(self.events, self.root, before=before)
        started = self.started
        if started.forked_from is None or started.forked_at is None:
            return own
        return _read(started.forked_from, self.root).past(before=started.forked_at).then(own)

    @property
    def question_count(self) -> int:
        """How many questions were asked in it."""
        return sum(isinstance(event, Question) and event.phase == "asked" for event in self.events)

    @property
    def step_names(self) -> list[str]:
        """Names of the steps it began, in order."""
        begun = [e.name for e in self.events if isinstance(e, StepStarted | StepSkipped) and e.node is not None]
        return list(dict.fromkeys(begun))


def resume(
    run_id: str, *, pipeline: LoadedPipeline | str | os.PathLike[str] | None = None, **options: Unpack[RunOptions]
) -> Run:
    """Go on with a run that was cut off or did not succeed, under the id it has, and return it at its end.

    Nothing that completed is repeated: steps that succeeded, and their hooks. What failed or was interrupted runs
    anew, and then what follows it; an agent step starts its conversation anew. The pipeline is read again from its
    file, or `pipeline` takes its place; steps whose content has changed run anew, with all that follows them.

    Raises: InputError for a run that is unknown, still running, succeeded, or cannot be loaded again; ConfigError
        where the pipeline is wrong now; StoreError.
    """
    return start_resume(run_id, pipeline=pipeline, **options).result()


def start_resume(
    run_id: str, *, pipeline: LoadedPipeline | str | os.PathLike[str] | None = None, **options: Unpack[RunOptions]
) -> RunHandle:
    """Start what `resume` does and return at once."""
    hold = ExitStack()
    hold.enter_context(hold_run(_root(options), run_id))
    with hold:
        return _resumed(run_id, pipeline, options, hold)


def _resumed(
    run_id: str, pipeline: LoadedPipeline | str | os.PathLike[str] | None, options: RunOptions, hold: ExitStack
) -> RunHandle:
    earlier = _read(run_id, _root(options))
    state = run_state(Store(earlier.root), run_id)
    if state == "running":
        raise InputError(f"run {run_id} is still under way; wait for its end, or stop it first")
    ended = [event for event in earlier.events if isinstance(event, RunFinished)]
    if state == "finished" and ended and ended[-1].outcome == Outcome.SUCCEEDED:
        raise InputError(f"run {run_id} has succeeded, nothing is left to do; `replay` runs it again from a step")
    loaded = _pipeline_of(earlier, pipeline, options)
    setup = RunSetup(
        handed_in(earlier.events, earlier.root),
        past=earlier.past(),
        forked_from=earlier.started.forked_from,
        is_resumed=True,
        question_count=earlier.question_count,
    )
    return _start(earlier, loaded, setup, options, hold, run_id=run_id, before=earlier.events)


def replay(
    run_id: str,
    *,
    from_step: str,
    pipeline: LoadedPipeline | str | os.PathLike[str] | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Run a job again from one of its steps on, with what the run had before it, and return the new run at its end.

    The new run has `forked_from`; the one it comes from stays as it was.

    Raises: InputError for an unknown run or step; ConfigError where the pipeline is wrong now; StoreError.
    """
    return start_replay(run_id, from_step=from_step, pipeline=pipeline, **options).result()


def start_replay(
    run_id: str,
    *,
    from_step: str,
    pipeline: LoadedPipeline | str | os.PathLike[str] | None = None,
    **options: Unpack[RunOptions],
) -> RunHandle:
    """Start what `replay` does and return at once."""
    hold = ExitStack()
    hold.enter_context(hold_run(_root(options), run_id))
    with hold:
        return _replayed(run_id, from_step, pipeline, options, hold)


def _replayed(
    run_id: str,
    from_step: str,
    pipeline: LoadedPipeline | str | os.PathLike[str] | None,
    options: RunOptions,
    hold: ExitStack,
) -> RunHandle:
    earlier = _read(run_id, _root(options))
    if from_step not in earlier.step_names:
        raise InputError(f"run {run_id}: {unknown_name('step', from_step, earlier.step_names)}")
    loaded = _pipeline_of(earlier, pipeline, options)
    setup = RunSetup(
        handed_in(earlier.events, earlier.root),
        past=earlier.past(before=from_step),
        forked_from=run_id,
        forked_at=from_step,
    )
    return _start(earlier, loaded, setup, options, hold)


def _start(
    earlier: _Earlier,
    loaded: LoadedPipeline,
    setup: RunSetup,
    options: RunOptions,
    hold: ExitStack,
    *,
    run_id: str | None = None,
    before: Sequence[Event] = (),
) -> RunHandle:
    job = earlier.started.job
    if job not in loaded.jobs:
        raise InputError(
            f"run {earlier.started.run_id}: {unknown_name('job', job, loaded.jobs)}; a run of steps that are no job, "
            "such as that of an `%%agent` cell, cannot go on: run its cell again"
        )
    return loaded.start_again(job, setup, run_id=run_id, before=before, options=options, hold=hold)


def _root(options: RunOptions) -> Path:
    if options.get("memory"):
        raise InputError("a run that goes on is kept in its store; leave `memory` out")
    return store_root(options.get("store"))


def _read(run_id: str, root: Path) -> _Earlier:
    events = tuple(run_events(Store(root), run_id))
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    if started is None:
        raise InputError(f"run {run_id}: its beginning is not in {root}; start it anew with `run`")
    return _Earlier(started, events, root)


def _pipeline_of(
    earlier: _Earlier, given: LoadedPipeline | str | os.PathLike[str] | None, options: RunOptions
) -> LoadedPipeline:
    """Load the pipeline of a run again: the file it came from, else the text it was given."""
    if isinstance(given, LoadedPipeline):
        return given
    started, functions = earlier.started, options.get("functions")
    variables = {**_variables_of(started), **(options.get("vars") or {})}
    hidden = [name for name, value in variables.items() if REDACTED in str(value)]
    if hidden:
        raise InputError(
            f"run {started.run_id}: the value of `(({hidden[0]}))` is kept out of the store; give it again with "
            f"`--var {hidden[0]}=…` (in Python `vars=`, in a notebook `--use`)"
        )
    if given is not None:
        return load(given, vars=variables, functions=functions)
    file = Path(started.base_dir) / Path(started.pipeline).name
    if file.suffix in _YAML_SUFFIXES:
        if not file.is_file():
            raise InputError(
                f"run {started.run_id}: its pipeline {file} is gone; put it back, or hand one in with `pipeline=` "
                "(in a shell `--pipeline FILE`)"
            )
        return load(file, vars=variables, functions=functions)
    if not started.source_text or REDACTED in started.source_text:
        raise InputError(
            f"run {started.run_id}: its pipeline was no file and holds values that are kept out of the store; hand it "
            "in with `pipeline=` (in a notebook load it first, with `%steps load` or its `%%steps` cell)"
        )
    text = load_text(started.source_text, file=started.pipeline, base_dir=Path(started.base_dir), variables=variables)
    return LoadedPipeline(text, variables, functions)


def _variables_of(started: RunStarted) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in started.variables.items()}
