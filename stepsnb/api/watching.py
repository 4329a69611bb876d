"""The verb `watch`: what it does in which order, and how Python does it."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Unpack

from ..errors import InputError, StepsError
from ..settings import STOP_PROMPT_S, WATCH_S
from .due import Watch
from .options import PathLike, RunOptions
from .pipeline import LoadedPipeline, load
from .run import Run

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(slots=True)
class Check:
    """Look whether a job is due; whoever looks says so in `is_due`."""

    job: str
    is_due: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """Run a job to its end."""

    job: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for so many seconds; None is for ever, since no resource is checked again."""

    seconds: float | None


def rounds(watched: Watch, *, once: bool) -> Iterator[Check | Start | Pause]:
    """Yield what is to be done next, without end, or with `once` until nothing is due any more.

    Every front end walks through this in its own way: it may block, await, or be stopped.
    """
    while True:
        has_run = False
        for job in watched.jobs:
            yield (check := Check(job))
            if check.is_due:
                yield Start(job)
                has_run = True
        if has_run:
            continue
        if once:
            return
        yield Pause(watched.pause_s)


def read_interval(text: str, *, name: str = "interval") -> float:
    """Read a duration as pipelines have them, as seconds; empty is the default. `name` is how messages call it.

    Raises: InputError.
    """
    if not text:
        return WATCH_S
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text.strip())
    seconds = float(found[1]) * _UNITS_S[found[2]] if found else 0.0
    if not seconds:
        raise InputError(f"{name} `{text}`: write it like `30s`, `5m` or `1h`")
    return seconds


def watch(
    pipeline: LoadedPipeline | PathLike,
    job: str | None = None,
    *,
    interval: str = "",
    once: bool = False,
    on_run: Callable[[Run], object] = lambda run: None,
    on_problem: Callable[[str, StepsError], object] | None = None,
    **options: Unpack[RunOptions],
) -> list[Run]:
    """Run jobs whenever there is a new version of what they wait for (`trigger: true`), until an interrupt.

    `job` and those that its versions go on to are watched, or all jobs. `interval`, such as `5m`, is the time between
    two checks of a resource that does not say `check_every:`. `on_run` is called with each run when it has ended, and
    `on_problem` with a job and why its check went wrong; without it such a problem ends the watch. With `once` the
    resources are checked once, and the runs that this led to are returned; nothing else is kept of them.

    Raises: InputError for an unknown job, or where no step waits for anything; StepsError for a check that goes wrong;
        KeyboardInterrupt once what was under way has been stopped.
    """
    if options.get("memory"):
        raise InputError("`watch` keeps its runs in the store, which says what is new; leave `memory` out")
    loaded = pipeline if isinstance(pipeline, LoadedPipeline) else load(pipeline, vars=options.get("vars"))
    watched = Watch(loaded, job, store=options.get("store"), interval_s=read_interval(interval))
    runs: list[Run] = []
    for todo in rounds(watched, once=once):
        match todo:
            case Check():
                try:
                    todo.is_due = _is_due(watched, todo.job)
                except StepsError as exc:
                    if on_problem is None:
                        raise
                    on_problem(todo.job, exc)
            case Start():
                run = loaded.run(todo.job, **options)
                on_run(run)
                if once:
                    runs.append(run)
            case Pause():
                threading.Event().wait(todo.seconds)
    return runs


def _is_due(watched: Watch, job: str) -> bool:
    task = watched.start_check(job)
    try:
        return task.result()
    except KeyboardInterrupt:
        task.cancel()
        task.wait(STOP_PROMPT_S)
        raise
