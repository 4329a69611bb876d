"""Goes on with a run that ended early, or runs it again from one of its steps."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from ..errors import InputError
from ..events import Event, RunFinished, RunStarted, StepSkipped, StepStarted
from ..outcome import Outcome
from ..run import RunSetup, handed_in, past_of
from ..run.redaction import REDACTED
from ..store import Store, run_events
from ..suggest import unknown_name
from .options import RunOptions, store_root
from .pipeline import LoadedPipeline, load
from .run import Run, RunHandle


@dataclass(frozen=True, slots=True)
class _Earlier:
    """A run as the store has it."""

    started: RunStarted
    events: tuple[Event, ...]
    root: Path

    @property
    def step_count(self) -> int:
        """How many step ids it used."""
        numbers = [e.step_id[1:] for e in self.events if isinstance(e, StepStarted | StepSkipped)]
        return max((int(number) for number in numbers if number.isdecimal()), default=0)


def resume(
    run_id: str, *, pipeline: LoadedPipeline | str | os.PathLike[str] | None = None, **options: Unpack[RunOptions]
) -> Run:
    """Go on with a run that was cut off or did not succeed, under the id it has, and return it at its end.

    Nothing that completed is repeated: steps that succeeded, and their hooks. What failed or was interrupted runs
    anew, and then what follows it; an agent step starts its conversation anew. `pipeline` takes the place of the one
    the run was started with; steps whose content it changes run anew.

    Raises: InputError for a run that is unknown, succeeded, or cannot be loaded again; StoreError.
    """
    return start_resume(run_id, pipeline=pipeline, **options).result()


def start_resume(
    run_id: str, *, pipeline: LoadedPipeline | str | os.PathLike[str] | None = None, **options: Unpack[RunOptions]
) -> RunHandle:
    """Start what `resume` does and return at once."""
    earlier = _read(run_id, options)
    ended = [event for event in earlier.events if isinstance(event, RunFinished)]
    if ended and ended[-1].outcome == Outcome.SUCCEEDED:
        raise InputError(f"run {run_id} has succeeded; nothing is left to do (`replay` runs it again from a step)")
    loaded = _pipeline_of(earlier, pipeline, options)
    setup = RunSetup(
        handed_in(earlier.events, earlier.root),
        past=past_of(earlier.events, earlier.root),
        is_resumed=True,
        step_count=earlier.step_count,
    )
    return loaded.start_again(earlier.started.job, setup, run_id=run_id, before=earlier.events, options=options)


def replay(
    run_id: str,
    *,
    from_step: str,
    pipeline: LoadedPipeline | str | os.PathLike[str] | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Run a job again from one of its steps on, with what the run had before it, and return the new run at its end.

    The new run has `forked_from`; the one it comes from stays as it was.

    Raises: InputError for an unknown run or step; StoreError.
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
    earlier = _read(run_id, options)
    names = [e.name for e in earlier.events if isinstance(e, StepStarted | StepSkipped) and e.node is not None]
    if from_step not in names:
        raise InputError(f"run {run_id}: {unknown_name('step', from_step, names)}")
    loaded = _pipeline_of(earlier, pipeline, options)
    setup = RunSetup(
        handed_in(earlier.events, earlier.root),
        past=past_of(earlier.events, earlier.root, before=from_step),
        forked_from=run_id,
    )
    return loaded.start_again(earlier.started.job, setup, options=options)


def _read(run_id: str, options: RunOptions) -> _Earlier:
    root = store_root(options.get("store"))
    events = tuple(run_events(Store(root), run_id))
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    if started is None:
        raise InputError(f"there is no run {run_id} in {root}; `stepsnb runs` lists them")
    return _Earlier(started, events, root)


def _pipeline_of(
    earlier: _Earlier, given: LoadedPipeline | str | os.PathLike[str] | None, options: RunOptions
) -> LoadedPipeline:
    """Load the pipeline of a run again: the file it came from, else the text it was given."""
    if isinstance(given, LoadedPipeline):
        return given
    variables = {**_variables_of(earlier.started.variables), **(options.get("vars") or {})}
    if given is not None:
        return load(given, vars=variables, functions=options.get("functions"))
    started = earlier.started
    file = Path(started.base_dir) / Path(started.pipeline).name
    if file.suffix in (".yml", ".yaml") and file.is_file():
        return load(file, vars=variables, functions=options.get("functions"))
    if not started.source or REDACTED in started.source:
        raise InputError(
            f"run {started.run_id}: its pipeline is not in the store as a whole, since it holds values that are kept "
            "out of it; hand it in with `pipeline=`"
        )
    return load(started.source, vars=variables, functions=options.get("functions"), name=started.pipeline)


def _variables_of(written: Mapping[str, str]) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in written.items()}
