"""What a run may be given besides its pipeline, and the place it is kept."""

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from ..config import AgentStep, Pipeline, TaskStep
from ..events import Emit
from ..people import Asker

DEFAULT_STORE = ".steps"
_SECRET_LENGTH = 8  # shorter values of `env:` are settings such as `fast`; replacing them would garble every text

PathLike = str | os.PathLike[str]
Answers = Mapping[str, str] | Sequence[str]
Functions = Mapping[str, Callable[..., Any]]


class RunOptions(TypedDict, total=False):
    """Keyword arguments of `run`, `start` and `open`.

    `vars` fill `((name))`; `answers` stand ready for questions (a mapping from a part of the question to its
    answer, or a list used front to back); `files` become the artifact `files`; `functions` are looked up by
    `{python: name}` grants before the caller's own module; `store` is the folder runs are kept in, `.steps` when
    not given; `memory=True` keeps nothing. `asker` puts questions to a person, `on_event` is called on the
    engine's thread for every event in order.
    """

    vars: Mapping[str, object] | None
    answers: Answers | None
    store: PathLike | None
    files: Sequence[PathLike] | None
    functions: Functions | None
    memory: bool
    asker: Asker | None
    on_event: Emit | None


def store_root(store: PathLike | None) -> Path:
    """Return the folder runs are kept in."""
    return Path(store if store is not None else DEFAULT_STORE).absolute()


class RunPlace:
    """Where one run's files live: a store's folder, or one that goes when nobody holds the run's result any more."""

    def __init__(self, options: RunOptions) -> None:
        self.is_kept = not options.get("memory", False)
        if self.is_kept:
            self.root = store_root(options.get("store"))
        else:
            self.root = Path(tempfile.mkdtemp(prefix="stepsnb-"))
            weakref.finalize(self, shutil.rmtree, self.root, ignore_errors=True)


def callers_functions() -> Functions:
    """Functions of the program or notebook that is running, for `{python: name}` grants."""
    return vars(sys.modules["__main__"])


def secrets_of(pipeline: Pipeline) -> list[str]:
    """Values that must not enter an event: keys named by `api_key_env`, and long values under `env:`."""
    names = {agent.source.api_key_env for agent in pipeline.agents if agent.source.api_key_env}
    found = [value for name in sorted(names) if (value := os.environ.get(name))]
    for job in pipeline.jobs:
        for step in job.plan:
            match step:
                case TaskStep():
                    found += [value for value in step.env.values() if len(value) >= _SECRET_LENGTH]
                case AgentStep() | _:
                    pass
    return list(dict.fromkeys(found))
