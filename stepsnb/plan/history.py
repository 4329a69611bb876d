"""What earlier runs left behind, as far as a plan asks for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from .node import Node


class EarlierStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of an earlier run: what it did, what went in and came out, and how it ended.

    `parts` are those of its `Fingerprint`. `inputs` and `outputs` are digests by the step's own names.
    """

    run_id: str
    path: str
    name: str
    kind: str
    hash: str
    outcome: str
    parts: dict[str, str] = {}
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}


class KeptResult(msgspec.Struct, frozen=True):
    """A result that a step takes over: the run it comes from, and the digests of its outputs by the step's names."""

    run_id: str
    outputs: dict[str, str]


FindResult = Callable[[Node, Mapping[str, str]], KeptResult | None]
"""Finds what a step left that had the same hash, and inputs with these digests."""


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
