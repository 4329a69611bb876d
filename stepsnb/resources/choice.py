"""Chooses the versions a job runs with; pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from .versions import KnownVersion, Version, version_key

Mode = Literal["latest", "every"] | Version
"""How a `get` step chooses: the newest, each one in turn, or the one with these entries."""

Succeeded = Mapping[str, Sequence[Mapping[str, Version]]]
"""By job, its runs that succeeded, oldest first: the versions each of them used or made, by resource."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one `get` step asks for.

    `known` are the versions of its resource; `last_used` is the one that the job's last run had in this step.
    """

    resource: str
    mode: Mode = "latest"
    known: Sequence[KnownVersion] = ()
    last_used: Version | None = None
    passed: Sequence[str] = ()


def choose_version(
    mode: Mode,
    known: Sequence[KnownVersion],
    *,
    last_used: Version | None = None,
    passed: Sequence[Sequence[Version]] | None = None,
) -> Version | None:
    """Choose for one `get` step on its own; None when there is nothing to run with yet.

    Args:
        known: In any order; their `check_order` says which is newer.
        last_used: The version the step had the last time. `every` goes on with the next one after it, or stays with
            it when there is none; without it, it starts with the newest.
        passed: For each job of `passed:` the versions it succeeded with, oldest first.
    """
    jobs = [f"job {index}" for index in range(len(passed or ()))]
    succeeded = {job: [{"": version} for version in each] for job, each in zip(jobs, passed or (), strict=True)}
    wanted = Wanted(resource="", mode=mode, known=known, last_used=last_used, passed=jobs)
    chosen = choose_versions({"": wanted}, succeeded)
    return None if chosen is None else chosen[""]


def choose_versions(wanted: Mapping[str, Wanted], succeeded: Succeeded | None = None) -> dict[str, Version] | None:
    """Choose for all `get` steps of a job together; None when one of them has nothing to run with.

    Steps with `every` move on in lockstep: each run takes the next version of every one of them, and one that has no
    next version stays where it is. Steps that name the same job in `passed:` take what one run of that job had.

    Args:
        wanted: By the name of the step.
        succeeded: The runs of the jobs that `passed:` names.
    """
    return _search(list(wanted.items()), succeeded or {}, {}, {})


def has_new_version(chosen: Mapping[str, Version], last_used: Mapping[str, Version]) -> bool:
    """Whether a step has another version than the job's last run had in it."""
    return any(
        name not in last_used or version_key(version) != version_key(last_used[name])
        for name, version in chosen.items()
    )


def _search(
    left: Sequence[tuple[str, Wanted]],
    succeeded: Succeeded,
    chosen: dict[str, Version],
    runs: Mapping[str, frozenset[int]],
) -> dict[str, Version] | None:
    """Choose for the steps in `left` with what is chosen already; `runs` are those of each job that still fit."""
    if not left:
        return chosen
    (name, wanted), rest = left[0], left[1:]
    candidates = _candidates(wanted, succeeded)
    for version in candidates if wanted.passed else islice(candidates, 1):  # only `passed:` ties steps together
        narrowed = _narrow(wanted, version, succeeded, runs)
        if narrowed is None:
            continue
        found = _search(rest, succeeded, {**chosen, name: version}, narrowed)
        if found is not None:
            return found
    return None


def _narrow(
    wanted: Wanted, version: Version, succeeded: Succeeded, runs: Mapping[str, frozenset[int]]
) -> Mapping[str, frozenset[int]] | None:
    key = version_key(version)
    narrowed = dict(runs)
    for job in wanted.passed:
        fitting = frozenset(
            index
            for index, run in enumerate(succeeded.get(job, ()))
            if (job not in runs or index in runs[job])
            and (had := run.get(wanted.resource)) is not None
            and version_key(had) == key
        )
        if not fitting:
            return None
        narrowed[job] = fitting
    return narrowed


def _candidates(wanted: Wanted, succeeded: Succeeded) -> Iterator[Version]:
    """Yield the versions that fit the step by itself, the wanted one first."""
    history = _history(wanted, succeeded)
    if isinstance(wanted.mode, Mapping):
        pin = wanted.mode
        matching = [version for version in history if pin.items() <= version.items()]
        if matching or wanted.passed:
            yield from reversed(matching)
        else:
            yield dict(pin)  # no check has listed it, and it may be there all the same
        return
    if wanted.mode == "every" and wanted.last_used is not None:
        last = version_key(wanted.last_used)
        position = next((index for index, version in enumerate(history) if version_key(version) == last), None)
        if position is not None:
            yield from history[position + 1 :]
            yield history[position]
            return
    yield from reversed(history)


def _history(wanted: Wanted, succeeded: Succeeded) -> list[Version]:
    """Return the versions to choose from, oldest first, each once.

    With `passed:` that is the order in which the first of its jobs had them last; else the order of the checks.
    """
    if wanted.passed:
        runs = succeeded.get(wanted.passed[0], ())
        had = [run[wanted.resource] for run in runs if wanted.resource in run]
        newest_last = {version_key(version): version for version in reversed(had)}
        return list(reversed(newest_last.values()))
    by_key: dict[str, KnownVersion] = {}
    for each in wanted.known:
        if each.check_order > 0 or isinstance(wanted.mode, Mapping):
            by_key[version_key(each.version)] = each
    return [each.version for each in sorted(by_key.values(), key=lambda each: each.check_order)]
