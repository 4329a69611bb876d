"""What is remembered of resources from run to run: their versions, and which of them each job had."""

import contextlib
import fcntl
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol, TypeVar

import msgspec

from ..errors import StoreError
from .choice import Succeeded
from .versions import KnownVersion, Version, version_key

T = TypeVar("T")

_FOLDER = "versions"


class JobRun(msgspec.Struct, frozen=True, kw_only=True):
    """The versions one run of a job had.

    `gets` are those of its `get` steps, by the step's name; `resources` all it used or made, by resource: what
    `passed:` looks at when the run succeeded.
    """

    run_id: str
    has_succeeded: bool
    gets: dict[str, dict[str, str]] = {}
    resources: dict[str, dict[str, str]] = {}


class _Dropped(msgspec.Struct, frozen=True):
    """Says that versions up to this check order were dropped: a check that lists them again brings nothing new."""

    dropped_upto: int


class VersionStore(Protocol):
    """Keeps versions and the versions that runs had."""

    def known(self, scope: str) -> list[KnownVersion]:
        """Return the versions of a resource (`resource_scope`), each once, in their check order."""
        ...

    def add(self, scope: str, versions: Sequence[Version], *, from_check: bool = True) -> list[KnownVersion]:
        """Add versions, oldest first, and return the new ones.

        For a check those are the ones no check has listed before, else the ones that were not known at all. The last
        one a check lists is what the resource is at now: where it went back to an older version, that is the newest
        again.

        Raises: StoreError.
        """
        ...

    def drop_oldest(self, scope: str, *, keep: int, needed: Collection[str], followed: Collection[str] = ()) -> None:
        """Forget all versions of a resource but the newest `keep` and those that are needed.

        Args:
            needed: Keys (`version_key`) of versions that stay.
            followed: Keys of versions of which all that follow stay as well.

        Raises: StoreError.
        """
        ...

    def needed(self, removed: Collection[str]) -> set[str]:
        """Return the keys of the versions that runs had, without the runs `removed`; each job's last run counts."""
        ...

    def runs(self, job: str) -> list[JobRun]:
        """Return what was added for a job, oldest first."""
        ...

    def add_run(self, job: str, run: JobRun) -> None:
        """Remember what a finished run of a job had. Raises: StoreError."""
        ...


class FileVersionStore:
    """A `VersionStore` of append-only files below `versions/` of a store's folder; several processes may share it."""

    def __init__(self, store_root: Path) -> None:
        self._folder = store_root.absolute() / _FOLDER

    def known(self, scope: str) -> list[KnownVersion]:
        """Return the versions of a resource; see `VersionStore.known`."""
        return _fold(_read(self._path("resource", scope), KnownVersion))

    def add(self, scope: str, versions: Sequence[Version], *, from_check: bool = True) -> list[KnownVersion]:
        """Add versions; see `VersionStore.add`."""
        with _appending(self._path("resource", scope)) as file:
            known = {version_key(each.version): each for each in _fold(_read(Path(file.name), KnownVersion))}
            order = max((each.check_order for each in known.values()), default=0)
            added: list[KnownVersion] = []
            is_dropped = self._dropped_again(Path(file.name), versions, known)
            for index, version in enumerate(versions):
                if index in is_dropped:
                    continue
                before = known.get(version_key(version))
                has_place = before is not None and (before.from_check or not from_check)
                is_current = from_check and index == len(versions) - 1
                if has_place and not (is_current and before is not None and before.check_order < order):
                    continue
                order += from_check
                each = KnownVersion(
                    version=dict(version), check_order=order if from_check else 0, from_check=from_check
                )
                known[version_key(version)] = each
                added.append(each)
            file.write(b"".join(msgspec.json.encode(each) + b"\n" for each in added))
        return added

    def _dropped_again(self, path: Path, versions: Sequence[Version], known: Mapping[str, KnownVersion]) -> set[int]:
        """Return where a check lists versions that were dropped: those before the first one that came after them."""
        upto = max((row.dropped_upto for row in _read(path, _Dropped)), default=0)
        orders = [known[key].check_order if (key := version_key(each)) in known else None for each in versions]
        newer = next((index for index, order in enumerate(orders) if upto and order is not None and order > upto), 0)
        return {index for index in range(newer) if orders[index] is None}

    def drop_oldest(self, scope: str, *, keep: int, needed: Collection[str], followed: Collection[str] = ()) -> None:
        """Forget versions; see `VersionStore.drop_oldest`."""
        path = self._path("resource", scope)
        with _appending(path):
            rows = _fold(_read(path, KnownVersion))
            floor = min((row.check_order for row in rows if version_key(row.version) in followed), default=None)
            dropped = [
                row
                for row in rows[:-keep]
                if version_key(row.version) not in needed and (floor is None or row.check_order < floor)
            ]
            if not dropped:
                return
            upto = max([*(each.dropped_upto for each in _read(path, _Dropped)), *(row.check_order for row in dropped)])
            stays: list[KnownVersion | _Dropped] = [_Dropped(upto), *(row for row in rows if row not in dropped)]
            draft = path.with_name(f"{path.name}.new")
            with draft.open("wb") as file:
                file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in stays))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)  # readers see all of before or all of after; writers that wait look for the new one

    def needed(self, removed: Collection[str]) -> set[str]:
        """Return what runs need; see `VersionStore.needed`."""
        keys: set[str] = set()
        for path in self._folder.glob("job-*.jsonl"):
            rows = _read(path, JobRun)
            for run in [*(row for row in rows if row.run_id not in removed), *rows[-1:]]:
                keys.update(version_key(version) for version in (*run.gets.values(), *run.resources.values()))
        return keys

    def runs(self, job: str) -> list[JobRun]:
        """Return what was added for a job; see `VersionStore.runs`."""
        return _read(self._path("job", job), JobRun)

    def add_run(self, job: str, run: JobRun) -> None:
        """Remember a run; see `VersionStore.add_run`."""
        with _appending(self._path("job", job)) as file:
            file.write(msgspec.json.encode(run) + b"\n")

    def _path(self, kind: str, name: str) -> Path:
        stem = re.sub(r"[^A-Za-z0-9._-]", lambda found: f"%{ord(found[0]):x}", name)[:200]
        return self._folder / f"{kind}-{stem}.jsonl"


def succeeded_runs(store: VersionStore, jobs: dict[str, str]) -> Succeeded:
    """Return what `choose_versions` needs of jobs; `jobs` maps their names to the keys they are stored under."""
    return {name: [run.resources for run in store.runs(key) if run.has_succeeded] for name, key in jobs.items()}


def _fold(rows: Sequence[KnownVersion]) -> list[KnownVersion]:
    latest = {version_key(row.version): row for row in rows}
    return sorted(latest.values(), key=lambda row: row.check_order)


def _read(path: Path, kind: type[T]) -> list[T]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as exc:
        raise StoreError(f"cannot read the versions in `{path}`: {exc.strerror}") from exc
    rows = []
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError):  # the end of a line whose process was killed
            rows.append(msgspec.json.decode(line, type=kind))
    return rows


def _locked(path: Path) -> IO[bytes]:
    """Open the file that is at `path` once nobody else has it open for adding. Raises: OSError."""
    while True:
        file = path.open("a+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileNotFoundError:
            pass
        except BaseException:
            file.close()
            raise
        file.close()  # another one took its place while this process waited


@contextlib.contextmanager
def _appending(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for adding whole lines, while nobody else does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path) as file:
            if file.tell() and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n":
                file.write(b"\n")
            yield file
    except OSError as exc:
        raise StoreError(f"cannot keep versions in `{path}`: {exc.strerror}") from exc
