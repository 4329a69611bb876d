"""Builds the plan of a job: every step's place, name and hash."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..config import (
    AgentStep,
    DoStep,
    EnsembleStep,
    InParallelStep,
    Pipeline,
    RaceStep,
    Step,
    TaskStep,
    TryStep,
)
from .expand import Cell, cell_at, cells_of, is_known_early, is_matrix
from .fingerprint import chain
from .identity import Identities
from .node import Node, Plan


def build_plan(pipeline: Pipeline, job: str | None = None) -> Plan:
    """Plan a job, the pipeline's only one when `job` is None.

    Raises: InputError for an unknown job, or when None could mean several; for a matrix that cannot be expanded.
    """
    chosen = pipeline.job(job)
    builder = _Builder(Identities(pipeline))
    nodes = builder.sequence(chosen.plan, None, "")
    hooks = builder.hooks(chosen.hooks, None, nodes[-1].hash if nodes else "", None)
    return Plan(chosen, nodes, hooks, frozenset(builder.notes_wanted))


def build_nodes(
    pipeline: Pipeline, steps: Sequence[Step], *, prefix: str = "", first_index: int = 0, previous: str = ""
) -> tuple[Node, ...]:
    """Make the nodes of steps that are no job's plan: those of a notebook's cell.

    Their paths begin with `prefix`, their indices with `first_index`; the first one is chained on the hash `previous`.
    """
    return _Builder(Identities(pipeline), first_index).sequence(steps, None, previous, prefix=prefix)


def expand(node: Node, axes_values: Mapping[str, Sequence[str]]) -> tuple[Node, ...]:
    """Return the cells of a matrix, the values of the last axis fastest.

    `axes_values` has the values of each axis that has none in the pipeline. Raises: InputError for more than
    `MATRIX_CELLS` cells, a value that an axis has twice, or a text that cannot be rendered with the coordinates.
    """
    cells = _Builder(node.identities).cells(node, cells_of(node.step, axes_values))
    for cell in cells:
        cell.index = node.index
    return cells


def expand_one(node: Node, coordinates: Mapping[str, str]) -> Node:
    """Return the one cell of a matrix at these coordinates, which `expand` makes among the others.

    Raises: InputError for a text that cannot be rendered with the coordinates.
    """
    (cell,) = _Builder(node.identities).cells(node, [cell_at(node.step, coordinates)])
    cell.index = node.index
    return cell


def rehash(node: Node) -> Node:
    """Return a node hashed by its step as that is now.

    What `load_var` set during the run is in a step only when that is about to run.
    """
    made = replace(node, fingerprint=node.identities.of(node.step, node.coordinates))
    made.hash = _hash_of(made)
    return made


def judge_node(ensemble: Node, step: AgentStep) -> Node:
    """Return the node of the agent that decides an ensemble; its votes are known only now."""
    node = _Builder(ensemble.identities).node(step, ensemble, f"{ensemble.path}.judge", ensemble.previous, None)
    node.index = ensemble.index
    return node


class _Builder:
    """Makes nodes and counts them."""

    def __init__(self, identities: Identities, first_index: int = 0) -> None:
        self.notes_wanted: set[str] = set()
        self._identities = identities
        self._count = first_index

    def sequence(
        self,
        steps: Sequence[Step],
        parent: Node | None,
        previous: str,
        fixed_by: str | None = None,
        *,
        prefix: str = "",
    ) -> tuple[Node, ...]:
        """Make the nodes of steps that follow one another, each chained on the one before it."""
        nodes = []
        for place, step in enumerate(steps):
            node = self.node(step, parent, f"{prefix}{place}", previous, fixed_by)
            nodes.append(node)
            previous = node.hash
            fixed_by = fixed_by or _fix_within(node)
        return tuple(nodes)

    def side_by_side(self, steps: Sequence[Step], block: Node) -> tuple[Node, ...]:
        """Make the nodes of steps that do not see each other: all follow what is before their block.

        Each of several that do the same is wanted, so the second one follows something else than the first.
        """
        nodes: list[Node] = []
        seen: set[str] = set()
        for place, step in enumerate(steps):
            first, previous, twins = self._count, block.previous, 0
            while True:
                node = self.node(step, block, f"{block.path}.{place}", previous, block.fixed_by)
                hashes = {each.hash for each in node.walk()}
                if seen.isdisjoint(hashes):
                    break
                twins += 1
                self._count, previous = first, chain(block.previous, f"twin {twins}")
            seen |= hashes
            nodes.append(node)
        return tuple(nodes)

    def cells(self, matrix: Node, cells: Sequence[Cell]) -> tuple[Node, ...]:
        """Make the nodes of a matrix's cells."""
        nodes = []
        for cell in cells:
            shown = cell.name[len(matrix.name) + 1 :]
            node = self._bare(cell.step, matrix, f"{matrix.path}{shown}", matrix.previous, matrix.fixed_by)
            node.name, node.coordinates = cell.name, cell.coordinates
            node.fingerprint = self._identities.of(cell.step, cell.coordinates)
            node.hash = chain(node.previous, node.fingerprint.content)
            nodes.append(node)
        return tuple(nodes)

    def hooks(
        self, steps: Mapping[str, Step], owner: Node | None, previous: str, fixed_by: str | None
    ) -> dict[str, Node]:
        """Make the nodes of hooks, which have no places of their own in the order of the plan."""
        count, prefix = self._count, f"{owner.path}." if owner else ""
        made = {when: self.node(step, owner, f"{prefix}{when}", previous, fixed_by) for when, step in steps.items()}
        self._count = count
        for hook in made.values():
            for node in hook.walk():
                node.index, node.is_hook = owner.index if owner else count, True
        return made

    def node(self, step: Step, parent: Node | None, path: str, previous: str, fixed_by: str | None) -> Node:
        """Make the node of one step, with all that it holds."""
        node = self._bare(step, parent, path, previous, fixed_by)
        self.notes_wanted.update(_notes_read_by(step))
        match step:
            case DoStep():
                node.children = self.sequence(step.steps, node, previous, fixed_by, prefix=f"{path}.")
            case TryStep():
                node.children = self.sequence((step.step,), node, previous, fixed_by, prefix=f"{path}.")
            case InParallelStep() | RaceStep():
                node.children = self.side_by_side(step.steps, node)
            case EnsembleStep():
                node.children = self.side_by_side(step.members, node)
        node.hooks = self.hooks(step.hooks, node, previous, fixed_by)
        node.fingerprint = self._identities.of(step)
        node.hash = _hash_of(node)
        if is_matrix(step) and is_known_early(step):
            node.children = self.cells(node, cells_of(step, {}))
        return node

    def _bare(self, step: Step, parent: Node | None, path: str, previous: str, fixed_by: str | None) -> Node:
        index = self._count
        self._count += 1
        return Node(
            index, path, step.name, step.kind, step, self._identities, parent, previous=previous, fixed_by=fixed_by
        )


def _hash_of(node: Node) -> str:
    """Return the hash of a node whose fingerprint, children and hooks are known; cells are in it by their values."""
    below = [] if is_matrix(node.step) else [child.hash for child in node.children]
    below += [f"{when} {hook.hash}" for when, hook in node.hooks.items()]
    return chain(node.previous, node.fingerprint.content, below)


def _fix_within(node: Node) -> str | None:
    """Return the name of the first step in a part of the plan that an agent may repair."""
    for each in node.walk():
        if isinstance(each.step, TaskStep) and each.step.fix is not None:
            return each.name
        for hook in each.hooks.values():
            if (name := _fix_within(hook)) is not None:
                return name
    return None


def _notes_read_by(step: Step) -> Iterator[str]:
    if isinstance(step, TaskStep | AgentStep) and step.context is not None:
        yield from (sender for sender, how_much in step.context.from_.items() if how_much != "verdict")
