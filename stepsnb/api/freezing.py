"""A run written back into its pipeline, as the asserts that hold what it did."""

import re
import secrets
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

from ..config import Insertion, find_node, insert
from ..errors import InputError
from ..events import RunStarted
from ..run import REDACTED, observed
from .options import PathLike
from .run import Run
from .stored import show

_BLOCKS = ("do", "in_parallel", "race", "ensemble", "try")


class Frozen:
    """A pipeline with the asserts of a run in it: `text`; shown in a cell it is what changed, line by line.

    `notes` say what was left as it is, and why.
    """

    def __init__(self, before: str, text: str, file: Path | None, notes: list[str]) -> None:
        self._before = before
        self.text = text
        self.notes = notes
        self._file = file

    def diff(self) -> str:
        """What changed, as a unified diff."""
        name = "pipeline" if self._file is None else self._file.name
        lines = unified_diff(self._before.splitlines(), self.text.splitlines(), name, f"{name} (frozen)", lineterm="")
        return "\n".join(lines)

    def write(self) -> Path:
        """Write it into the pipeline's file, and return that.

        Raises: InputError when the pipeline came from a cell or a text, or its file has changed since the run.
        """
        if self._file is None:
            raise InputError("freeze: the pipeline of this run is in no file; take `.text`")
        try:
            now = self._file.read_text("utf-8")
            if now != self._before:
                raise InputError(f"freeze: `{self._file}` has changed since the run; run it again, then freeze that")
            beside = self._file.with_name(f".{self._file.name}.{secrets.token_hex(4)}")
            beside.write_text(self.text, "utf-8")
            beside.chmod(self._file.stat().st_mode & 0o777)
            beside.replace(self._file)
        except OSError as exc:
            raise InputError(f"freeze: `{self._file}` cannot be written: {(exc.strerror or str(exc)).lower()}") from exc
        return self._file

    def __repr__(self) -> str:
        return "\n".join([self.diff() or "nothing to add", *self.notes])


def freeze(run: "str | Run", *, store: PathLike | None = None) -> Frozen:
    """Make of what a run did the `assert:` entries that hold it, in the text of its pipeline.

    Tasks get their exit code and the files they left, agents their verdict, files and tools in order, the job its
    `execution` and `outcome`. Every other byte of the text stays. An assert that is there already is only added to.

    Raises: InputError for an unknown run, one that has not ended well, or one whose pipeline is not recorded.
    """
    found = show(run, store=store)
    started = next((event for event in found.events if isinstance(event, RunStarted)), None)
    if started is None or not started.source_text:
        raise InputError(f"run {found.run_id}: its pipeline is not recorded, so nothing can be frozen into it")
    if found.outcome is None or not found.outcome.is_good:
        raise InputError(f"run {found.run_id} {found.outcome or 'is open'}; freeze one that succeeded")
    text, file = _text_of(found.run_id, started)
    job = _job_of(text, found.job)
    if job is None:
        raise InputError(f"run {found.run_id}: job `{found.job}` is not in the text of its pipeline, but included")
    insertions, notes = list[Insertion](), list[str]()
    seen = observed(found.events)
    for place, entries in seen.items():
        path = _path_of(text, job, place)
        if path is None:
            notes.append(f"step {place}: it is not in the text of the pipeline, and is left as it is")
        else:
            _keep_files(text, path, entries, found)
            insertions += _missing(text, path, entries, f"step {place}", notes)
    told = {"execution": [step.name for step in found.steps], "outcome": str(found.outcome)}
    insertions += _missing(text, job, told, f"job `{found.job}`", notes)
    return Frozen(text, insert(text, insertions), file, notes)


def _text_of(run_id: str, started: RunStarted) -> tuple[str, Path | None]:
    """Return the text of a run's pipeline, and its file where that still has it.

    Secrets were taken out of what is recorded: where there were some, only the file has the text.
    """
    recorded = started.source_text
    file = Path(started.base_dir) / Path(started.pipeline).name
    if file.suffix in (".yml", ".yaml") and file.is_file():
        now = file.read_text("utf-8")
        parts = (re.escape(part) for part in recorded.split(REDACTED))
        if re.fullmatch(".*?".join(parts), now, re.DOTALL):
            return now, file
        raise InputError(f"freeze: `{file}` has changed since the run; run it again, then freeze that")
    if REDACTED in recorded:
        raise InputError(f"run {run_id}: secrets were taken out of the text of its pipeline; keep it in a file")
    return recorded, None


def _keep_files(text: str, path: tuple[str | int, ...], entries: dict[str, Any], run: Run) -> None:
    """Leave out files that an assert could not hold: empty ones, and those that the step knows by another name."""
    is_renamed = find_node(_root(text), (*path, "output_mapping")) is not None
    known = run.files
    files = [] if is_renamed else [name for name in entries.pop("files", ()) if _has_bytes(known.get(name))]
    entries.pop("files", None)
    if files:
        entries["files"] = files


def _has_bytes(file: Path | None) -> bool:
    return file is not None and file.is_file() and file.stat().st_size > 0


def _root(text: str) -> Any:
    import yaml

    return yaml.compose(text, Loader=yaml.SafeLoader)


def _job_of(text: str, name: str) -> tuple[str | int, ...] | None:
    import yaml

    jobs = find_node(_root(text), ("jobs",))
    for index in range(len(jobs.value) if isinstance(jobs, yaml.SequenceNode) else 0):
        label = find_node(jobs, (index, "name"))
        if label is not None and label.value == name:
            return ("jobs", index)
    return None


def _path_of(text: str, job: tuple[str | int, ...], place: str) -> tuple[str | int, ...] | None:
    """Return where a step of the plan stands in the text; None for one that does not."""
    import yaml

    root = _root(text)
    path: tuple[str | int, ...] = (*job, "plan")
    for depth, part in enumerate(place.split(".")):
        if not part.isdecimal():
            path = (*path, part)  # a hook
        elif depth == 0 or path[-1] in ("steps", "agents"):
            path = (*path, int(part))
        else:
            held = _held(root, path)
            if held is None:
                return None
            path = held if held[-1] == "try" else (*held, int(part))
    return path if isinstance(find_node(root, path), yaml.MappingNode) else None


def _held(root: Any, path: tuple[str | int, ...]) -> tuple[str | int, ...] | None:
    import yaml

    for key in _BLOCKS:
        node = find_node(root, (*path, key))
        if isinstance(node, yaml.SequenceNode) or (node is not None and key == "try"):
            return (*path, key)
        for inner in ("steps", "agents"):
            if find_node(root, (*path, key, inner)) is not None:
                return (*path, key, inner)
    return None


def _missing(
    text: str, path: tuple[str | int, ...], entries: Mapping[str, Any], what: str, notes: list[str]
) -> Iterator[Insertion]:
    """Give what an assert has not; what it has is kept, whatever it says."""
    import yaml

    root = _root(text)
    asserted = find_node(root, (*path, "assert"))
    if asserted is None:
        yield Insertion(path, {"assert": dict(entries)})
        return
    known = {key.value for key, _ in asserted.value} if isinstance(asserted, yaml.MappingNode) else set()
    kept = [name for name in entries if name in known]
    if kept:
        notes.append(f"{what}: `assert.{'`, `assert.'.join(kept)}` is there already and stays as it is")
    yield Insertion((*path, "assert"), {name: value for name, value in entries.items() if name not in known})
