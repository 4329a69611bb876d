"""A step `across` values: one run of it for each combination, its outputs collected under the coordinates."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...config import Axis
from ...errors import InputError
from ...messages import cut_utf8
from ...outcome import Outcome
from ...plan import Node, expand, read_axis
from ...settings import MATRIX_FILE_BYTES
from ...workspace import ArtifactTree, Root, finish_in_thread
from ...workspace.trees import copy_tree
from ..branches import Branch, is_final, outcome_of, reasons_of, run_branches
from ..results import StepResult
from ..scope import Scope
from ..step import outputs_of
from .in_parallel import branch_of
from .walking import Walking

_NAME_BYTES = 200
"""Of a folder named by a value; every disk takes that many, and a number behind them."""


async def run_across(walker: Walking, node: Node, scope: Scope, step_id: str) -> StepResult:
    """Run the cells, at most `max_in_flight` at a time; a failing cell does not stop the others.

    Raises: InputError for an axis whose file is missing or is no list of texts.
    """
    across = getattr(node.step, "across", None)
    assert across is not None  # only steps that have it come here
    cells = expand(node, {axis.var: _values_of(axis, scope) for axis in across.axes})
    scopes = [scope.branch() for _ in cells]
    budget = _Budget(scope, across.budget)
    results = await run_branches(
        [budget.admit(walker, cell, own, step_id) for cell, own in zip(cells, scopes, strict=True)],
        limit=across.max_in_flight or 1,
    )
    for own in scopes:
        scope.take(own, artifacts=False)
    outcome = outcome_of(results)
    if outcome is Outcome.SUCCEEDED and not walker.is_over(step_id):
        for name in outputs_of(node.step).values():
            tree = await finish_in_thread(_collect, walker, name, cells, scopes)
            walker.run.keep(tree, walker.run.recorder.step(step_id))
            scope.keep(tree)
    return StepResult(step_id, node.name, node.kind, outcome, reasons_of(results), is_final=is_final(results))


def _values_of(axis: Axis, scope: Scope) -> Sequence[str]:
    if axis.from_file is None:
        return axis.values or ()
    artifact, _, path = axis.from_file.partition("/")
    if artifact not in scope.artifacts:
        raise InputError(f"across `{axis.var}`: artifact `{artifact}` is not there yet")
    try:
        with Root(scope.artifacts[artifact].path).open_read(path) as file:
            raw = file.read(MATRIX_FILE_BYTES + 1)
    except OSError as exc:
        raise InputError(
            f"across `{axis.var}`: cannot read `{axis.from_file}`: {(exc.strerror or '').lower()}"
        ) from exc
    return read_axis(axis, raw)


def _collect(walker: Walking, name: str, cells: Sequence[Node], scopes: Sequence[Scope]) -> ArtifactTree:
    """Put each cell's output into a folder of its own, named by the cell's values."""

    def fill(folder: Path) -> None:
        for place, own in zip(folders_of([cell.coordinates for cell in cells]), scopes, strict=True):
            if name in own.made:
                (folder / place).mkdir(parents=True)
                copy_tree(own.artifacts[name].path, folder / place)

    return walker.run.workspace.add_tree(name, fill)


def folders_of(coordinates: Sequence[Mapping[str, str]]) -> list[Path]:
    """Name a folder for each cell by its values; those whose names would be the same on some disk get a number."""
    names: dict[tuple[str, str], str] = {}
    taken: set[tuple[str, str]] = set()
    for var, value in (pair for each in coordinates for pair in each.items()):
        if (var, value) in names:
            continue
        plain = "".join(c if c.isalnum() or c in "._- " else "_" for c in value).strip(". ")
        plain = cut_utf8(plain, _NAME_BYTES).strip(". ") or "_"
        numbered = (f"{plain}~{number}" if number > 1 else plain for number in itertools.count(1))
        name = next(each for each in numbered if (var, each.casefold()) not in taken)
        taken.add((var, name.casefold()))
        names[var, value] = name
    return [Path(*(names[pair] for pair in each.items())) for each in coordinates]


class _Budget:
    """Admits cells while their reservations fit into what the block may spend, in tokens.

    A cell that has no room only because of what is reserved for others waits: they may spend less.
    """

    def __init__(self, scope: Scope, budget: "Mapping[str, int] | object | None") -> None:
        self._limit: int | None = getattr(budget, "tokens", None)
        self._each: int = getattr(budget, "reserve_per_cell", None) or 0
        self._reserved = 0
        self._spent = 0
        self._ended = asyncio.Event()  # another one each time

    def admit(self, walker: Walking, cell: Node, scope: Scope, step_id: str) -> Branch:
        """Return what runs a cell, or refuses it once the budget has no room for another."""
        branch = branch_of(walker, cell, scope, step_id)

        async def run() -> StepResult:
            limit = self._limit
            if limit is None:
                return await branch()
            needed = max(self._each, 1)
            while self._spent + needed <= limit < self._spent + needed + self._reserved:
                await self._ended.wait()
            if self._spent + needed > limit:
                words = f"not started: the block's budget of {limit:,} tokens has no room left"
                return walker.refuse(cell, scope, Outcome.ERRORED, words, parent_id=step_id)
            self._reserved += self._each
            try:
                return await branch()
            finally:
                self._reserved -= self._each
                self._spent += scope.meter.tokens
                self._ended.set()
                self._ended = asyncio.Event()

        return run
