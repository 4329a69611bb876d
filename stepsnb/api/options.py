"""What a run may be given besides its pipeline, and the place it is kept."""

import os
import shutil
import sys
import tempfile
import weakref
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

from ..config import Pipeline, Step
from ..errors import InputError
from ..events import Emit
from ..keys import find_key
from ..llm import PROVIDERS, Cassette
from ..people import Asker
from ..settings import SECRET_CHARACTERS

DEFAULT_STORE = ".steps"

PathLike = str | os.PathLike[str]
Answers = Mapping[str, str] | Sequence[str]
Functions = Mapping[str, Callable[..., Any]]


class RunOptions(TypedDict, total=False):
    """Keyword arguments of `run`, `start` and `open`.

    `vars` fill `((name))`; `answers` stand ready for questions (a mapping from a part of the question to its
    answer, or a list used front to back); `files` (paths of files and folders, or one) become the artifact `files`;
    `functions` are looked up by `{python: name}` grants before the caller's own module; `store` is the folder runs
    are kept in, `.steps` when not given; `memory=True` keeps nothing. `asker` puts questions to a person; without one,
    or where nobody is there, `parks=True` waits for an answer from another kernel or shell. `on_event` is called on the
    engine's thread for every event in order; what it raises ends the run and reaches the caller. `record` is a file
    that requests to models and their responses are put into, `replay` one that they come from, without network or key.
    """

    vars: Mapping[str, object] | None
    answers: Answers | None
    store: PathLike | None
    files: Sequence[PathLike] | PathLike | None
    functions: Functions | None
    memory: bool
    asker: Asker | None
    parks: bool
    on_event: Emit | None
    record: PathLike | None
    replay: PathLike | None


def store_root(store: PathLike | None) -> Path:
    """Return the folder runs are kept in. Raises: InputError when the current folder is gone."""
    return current_folder() / Path(store if store is not None else DEFAULT_STORE)


def current_folder() -> Path:
    """Return the folder relative paths start from. Raises: InputError when it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError as exc:
        raise InputError("the current folder is gone; change to one that exists (in a notebook `%cd`)") from exc


class RunPlace:
    """Where one run's files live: a store's folder, or one that goes when nobody holds the run's result any more."""

    def __init__(self, options: RunOptions) -> None:
        self.is_kept = not options.get("memory", False)
        if self.is_kept:
            self.root = store_root(options.get("store"))
        else:
            self.root = Path(tempfile.mkdtemp(prefix="stepsnb-"))
            weakref.finalize(self, _remove_if_ours, self.root, os.getpid())

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the place for as long as work goes on in it, whoever else lets go of it."""
        yield


def _remove_if_ours(root: Path, pid: int) -> None:
    if os.getpid() == pid:  # a fork of the process drops its copies of the objects, not the files
        shutil.rmtree(root, ignore_errors=True)


def files_of(options: RunOptions) -> list[Path]:
    """Return the paths given as `files=`; one path alone is a list of one."""
    files = options.get("files") or ()
    return [Path(files)] if isinstance(files, str | os.PathLike) else [Path(file) for file in files]


def functions_of(*given: Functions | None) -> Functions:
    """Return where `{python: name}` grants are looked up: in each of `given`, then in the program that is running.

    Raises: InputError for something that does not map names to functions.
    """
    for functions in given:
        if functions is not None and not isinstance(functions, Mapping):
            raise InputError("functions: give a mapping {'name': function}")
    maps = [*(functions for functions in given if functions), _ProgramFunctions()]
    return ChainMap(*maps)  # type: ignore[arg-type]  # only the first map of a chain is ever written to; none is here


class _ProgramFunctions(Mapping[str, Callable[..., Any]]):
    """What the program or notebook that is running has by name, as it is when it is looked up.

    Whoever asks wants a function, a class or a client, and says what else it found.
    """

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return vars(sys.modules["__main__"])[name]  # type: ignore[no-any-return]  # a module holds anything

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(vars(sys.modules["__main__"])) if not name.startswith("_"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def secrets_of(pipeline: Pipeline, steps: Iterable[Step]) -> list[str]:
    """Values that must not enter an event: the keys of models and MCP servers, and what stands under `env:`.

    That is all of the pipeline, whose text is recorded, and of `steps` with those inside them and their hooks.
    Values of less than `SECRET_CHARACTERS` are left alone.
    """
    sources = [source for agent in pipeline.agents for source in (agent.source, *(f.source for f in agent.fallback))]
    named = [source.api_key_env for source in sources]
    named += [server.auth.api_key_env for server in pipeline.mcp_servers]
    named += [server.auth.client_secret_env for server in pipeline.mcp_servers]
    named += [provider.key_env for provider in PROVIDERS.values()]
    found = [find_key(name) for name in named if name]
    planned = [step for job in pipeline.jobs for step in (*job.plan, *job.hooks.values())]
    within = [each for step in (*steps, *planned) for each in step.walk()]
    for holder in (*pipeline.agents, *pipeline.resource_types, *within):
        found += getattr(holder, "env", {}).values()
    return [value for value in dict.fromkeys(found) if len(value) >= SECRET_CHARACTERS]


def cassette_of(options: RunOptions) -> Cassette | None:
    """Return the cassette of a run that records or replays. Raises: InputError for both at once, or a damaged file."""
    record, replay = options.get("record"), options.get("replay")
    if record is not None and replay is not None:
        raise InputError("a run records or replays; give `record` or `replay`")
    path = record if replay is None else replay
    return None if path is None else Cassette(current_folder() / Path(path), is_replay=replay is not None)
