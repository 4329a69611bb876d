"""The plan of a job: a tree of nodes, one for each step, hook and cell of a matrix."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..config import Job, Step


@dataclass(slots=True, eq=False)
class Node:
    """One step and its place in the plan. Nothing about it changes once `build_plan` has returned.

    Attributes:
        index: Its place in `Plan.walk()`, from 0. A hook has that of its step, a cell expanded during the run that
            of its matrix.
        path: A stable id within the job: `1` is the second step, `2.0` the first one inside the third, `3[a=1]` a
            cell of a matrix, `4.ensure` a hook.
        name: What records call it; a cell's ends with its coordinates: `build [a=1 b=2]`.
        kind: The step's kind in the pipeline language.
        step: The step itself; a cell's is rendered with its coordinates.
        children: The steps inside a block, the members of an ensemble, the cells of a matrix, in order.
        hooks: What runs when the step ends, by `on_success`, `on_failure`, `on_error`, `on_abort` and `ensure`.
        coordinates: The value of each axis, for a cell.
        hash: The step's identity: what it does and everything before it.
    """

    index: int
    path: str
    name: str
    kind: str
    step: Step
    parent: "Node | None" = field(default=None, repr=False)
    children: tuple["Node", ...] = field(default=(), repr=False)
    hooks: Mapping[str, "Node"] = field(default_factory=dict, repr=False)
    coordinates: Mapping[str, str] = field(default_factory=dict)
    hash: str = ""

    @property
    def step_kind(self) -> str:
        """The step's kind, by the name that records have for it."""
        return self.kind

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all below it, each before those inside it; hooks are not among them."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Plan:
    """A job and its steps, in order; `hooks` are the job's own."""

    job: Job
    nodes: tuple[Node, ...]
    hooks: Mapping[str, Node] = field(default_factory=dict)
    notes_wanted: frozenset[str] = frozenset()
    """Names of the steps whose note another step reads, so that they have to give one."""

    @property
    def steps(self) -> tuple[Node, ...]:
        """The job's own steps, without what is inside them."""
        return self.nodes

    def walk(self) -> Iterator[Node]:
        """Yield every node of the tree, each before those inside it; hooks are not among them."""
        for node in self.nodes:
            yield from node.walk()
