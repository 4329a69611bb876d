"""What earlier runs left behind, as far as a plan asks for it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from ..events import Artifact, Event, StepFinished, StepSkipped, StepStarted
from .node import Node, Plan
from .reuse import inputs_of


class EarlierStep(msgspec.Struct, omit_defaults=True):
    """One step of an earlier run: what it did, what went in and came out, and how it ended.

    `parts` are those of its `Fingerprint`. `inputs` and `outputs` are digests by the names of the artifacts; `outcome`
    is empty for a step that was cut off.
    """

    run_id: str
    path: str
    name: str
    kind: str
    hash: str
    outcome: str = ""
    parts: dict[str, str] = {}
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}


class KeptResult(msgspec.Struct, frozen=True):
    """A result that a step takes over: the run it comes from, and the digests of its outputs by artifact."""

    run_id: str
    outputs: dict[str, str]


FindResult = Callable[[Node, Mapping[str, str]], KeptResult | None]
"""Finds what a step left that had the same hash, and inputs with these digests by the step's names for them."""


def _nothing_kept(node: Node, inputs: Mapping[str, str]) -> None:
    return None


@dataclass(frozen=True)
class History:
    """What is known of the earlier runs of one job: the steps that ran, latest first, and the results that are kept."""

    steps: Sequence[EarlierStep] = ()
    find_result: FindResult = _nothing_kept
    _by_path: dict[tuple[str, str, str], EarlierStep] = field(default_factory=dict, init=False, repr=False)
    _by_name: dict[tuple[str, str], EarlierStep] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for step in self.steps:
            self._by_path.setdefault((step.path, step.kind, step.name), step)
            self._by_name.setdefault((step.kind, step.name), step)

    def earlier(self, node: Node) -> EarlierStep | None:
        """Return how a step last ran: at its place in the plan, else, as steps move, wherever one of its name did."""
        at_its_place = self._by_path.get((node.path, node.kind, node.name))
        return at_its_place or self._by_name.get((node.kind, node.name))


def earlier_steps(plan: Plan, events: Iterable[Event]) -> list[EarlierStep]:
    """Gather the steps of one run from its events, in order; of a step that ran several times its last run counts.

    Of their inputs those are noted that the steps of `plan` with the same names have.
    """
    needed: dict[str, set[str]] = defaultdict(set)
    for node in plan.walk():
        needed[node.name].update(inputs_of(node.step).values())
    digests: dict[str, str] = {}
    steps: dict[str, EarlierStep] = {}
    by_id: dict[str, EarlierStep] = {}
    for event in events:
        match event:
            case StepStarted() | StepSkipped() if event.node is not None:
                step = by_id[event.step_id] = steps[event.node] = EarlierStep(
                    event.run_id, event.node, event.name, event.step_kind, event.hash, parts=event.parts
                )
                step.inputs = {name: digests[name] for name in needed[event.name] if name in digests}
                if isinstance(event, StepSkipped):
                    step.outcome = "reused" if event.reused else "skipped"
            case Artifact():
                digests[event.name] = event.digest
                if event.step_id in by_id:
                    by_id[event.step_id].outputs[event.name] = event.digest
            case StepFinished() if event.step_id in by_id:
                by_id[event.step_id].outcome = event.outcome
    return list(steps.values())
