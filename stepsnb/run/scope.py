"""What a step sees of the steps before it, and the trail it leaves."""

from dataclasses import dataclass, field

from ..workspace import ArtifactTree
from .meter import Meter
from .opening import Decision
from .results import StepResult


@dataclass(slots=True)
class Scope:
    """Artifacts, decisions and variables by name, as a step finds them.

    Branches that run side by side have scopes of their own: none reads what a sibling leaves. `executed` are the
    steps that ran, in the order in which they count for `assert.execution`.
    """

    artifacts: dict[str, ArtifactTree] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    executed: list[StepResult] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)
    made: set[str] = field(default_factory=set)

    def branch(self) -> "Scope":
        """Return the scope of one branch of a block."""
        return Scope(dict(self.artifacts), dict(self.decisions), dict(self.variables), meter=Meter(self.meter))

    def keep(self, tree: ArtifactTree) -> None:
        """Make a captured tree visible to the steps that follow."""
        self.artifacts[tree.name] = tree
        self.made.add(tree.name)

    def take(self, branch: "Scope", *, artifacts: bool = True) -> None:
        """Take over what a branch left: its trail and decisions, and, unless it is lost, its artifacts."""
        self.executed += branch.executed
        self.decisions |= branch.decisions
        self.variables |= branch.variables
        if artifacts:
            for name in branch.made:
                self.keep(branch.artifacts[name])
