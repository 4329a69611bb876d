"""The plan of a job: a tree of nodes, one for each step, hook and cell of a matrix."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..config import Job, Step
from .fingerprint import Fingerprint
from .identity import Identities


@dataclass(slots=True, eq=False)
class Node:
    """One step and its place in the plan. Nothing about it changes once it has been built.

    Attributes:
        index: Its place in `Plan.walk()`, from 0. Hooks have that of their step, cells that are known only during
            the run that of their matrix.
        path: A stable id within the job: `1` is the second step, `2.0` the first one inside the third, `3[a=1]` a
            cell of a matrix, `4.ensure` a hook.
        name: What records call it; a cell's ends with its coordinates: `build [a=1 b=2]`.
        kind: The step's kind in the pipeline language.
        step: The step itself; a cell's is rendered with its coordinates.
        children: The steps inside a block, the members of an ensemble, the cells of a matrix, in order.
        hooks: What runs when the step ends, by `on_success`, `on_failure`, `on_error`, `on_abort` and `ensure`.
        coordinates: The value of each axis, for a cell.
        hash: The step's identity: what it does and everything before it.
        fingerprint: What it does itself, part by part.
        previous: The hash of what comes before it, which its own is chained on.
        fixed_by: The name of a step before it that an agent may repair; nothing after that is reused.
        is_hook: Whether it is a hook or stands inside one.
    """

    index: int
    path: str
    name: str
    kind: str
    step: Step
    identities: Identities = field(repr=False)
    parent: "Node | None" = field(default=None, repr=False)
    children: tuple["Node", ...] = field(default=(), repr=False)
    hooks: Mapping[str, "Node"] = field(default_factory=dict, repr=False)
    coordinates: Mapping[str, str] = field(default_factory=dict)
    hash: str = ""
    fingerprint: Fingerprint = field(default_factory=Fingerprint, repr=False)
    previous: str = field(default="", repr=False)
    fixed_by: str | None = field(default=None, repr=False)
    is_hook: bool = field(default=False, repr=False)

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all below it, each before those inside it; hooks are not among them."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Plan:
    """A job and its steps, in order; `hooks` are the job's own.

    `notes_wanted` are the names of the steps whose note another step reads, so that they have to give one.
    """

    job: Job
    nodes: tuple[Node, ...]
    hooks: Mapping[str, Node] = field(default_factory=dict)
    notes_wanted: frozenset[str] = frozenset()

    def walk(self) -> Iterator[Node]:
        """Yield every node of the tree, each before those inside it; hooks are not among them."""
        for node in self.nodes:
            yield from node.walk()
