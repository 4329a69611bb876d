"""Hands a run's outputs back to the person: nothing else writes into their folders."""

from pathlib import Path

from ..errors import InputError
from ..events import Artifact
from ..store import Store, run_events
from ..suggest import unknown_name
from ..workspace import copy_out
from .options import PathLike, store_root


def copy(
    run: str,
    artifact: str,
    target: PathLike,
    *,
    store: PathLike | None = None,
    force: bool = False,
) -> list[Path]:
    """Copy an artifact of a run to the folder `target` and return the files written.

    `artifact` is a name such as `report`. A file that is there already and differs is left alone unless `force`.

    Raises: InputError for an unknown run or artifact, or naming the files that would be overwritten.
    """
    root = store_root(store)
    found = {event.name: event for event in run_events(Store(root), run) if isinstance(event, Artifact)}
    if artifact not in found:
        raise InputError(f"run {run}: {unknown_name('artifact', artifact, found)}")
    return [Path(target) / name for name in copy_out(root / found[artifact].path, Path(target), force=force)]
