"""Says what a run would do and why, from the plan and what earlier runs left behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec

from ..config import GetStep, RaceStep
from ..errors import InputError
from .build import expand
from .expand import axes_of, is_matrix, read_axis
from .fingerprint import changed_parts
from .history import EarlierStep, History
from .node import Node, Plan
from .reuse import inputs_of, outputs_of, reusable
from .routes import reachable

_NAMED = 3
"""Differences that a reason names; the rest are counted."""

_HOOK_REASONS = {
    "on_success": "runs when {} has succeeded",
    "on_failure": "only when {} fails",
    "on_error": "only when {} breaks",
    "on_abort": "only when {} is stopped",
    "ensure": "runs when {} has ended",
}


class Action(StrEnum):
    """What a run would do with a step."""

    RUN = "run"
    REUSE = "reuse"
    SKIP = "skip"


class PlanRow(msgspec.Struct, frozen=True):
    """One step of the plan and what would become of it, with the reason in words.

    `path` is its place, `parent` that of the block it stands in; `hash` is its identity.
    """

    path: str
    parent: str | None
    step: str
    kind: str
    action: Action
    reason: str
    hash: str


ReadFile = Callable[[str, str], bytes | None]
"""Reads a file of an artifact by the artifact's digest and the path in it; None when it is not kept."""


def _nothing_to_read(digest: str, path: str) -> bytes | None:
    return None


def explain(
    plan: Plan, history: History, inputs: Mapping[str, str] | None = None, *, read_file: ReadFile = _nothing_to_read
) -> list[PlanRow]:
    """Say of each step whether it would run, be reused or be skipped.

    Args:
        inputs: Digests of the artifacts that are known beforehand, such as those of `path` resources, by name.
        read_file: For the values of a matrix, once the artifact that holds them is known to be the same.

    Returns: The steps in order, each followed by those inside it and its hooks, the job's hooks last. A step that
        waits for something only a run can tell is said to run.
    """
    explainer = _Explainer(history, inputs or {}, read_file)
    explainer.sequence(plan.nodes, _Known())
    explainer.hooks(plan.hooks, f"job `{plan.job.name}`")
    return explainer.rows


@dataclass
class _Known:
    """What is known at one point of the plan.

    `digests` are those of the artifacts that are there, `unknown` says of others why they have none yet, `cause`
    which step changed before this point.
    """

    digests: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    cause: str | None = None

    def branch(self) -> "_Known":
        return _Known(dict(self.digests), dict(self.unknown), self.cause)

    def take(self, branch: "_Known", *, blames: bool) -> None:
        """Take over what a branch found out; `blames`: with the step in it that changed."""
        self.digests |= branch.digests
        for name in branch.unknown:
            self.forget(name, branch.unknown[name])
        if blames:
            self.cause = self.cause or branch.cause

    def forget(self, name: str, why: str) -> None:
        self.digests.pop(name, None)
        self.unknown[name] = why

    def learn(self, name: str, digest: str) -> None:
        self.unknown.pop(name, None)
        self.digests[name] = digest


class _Explainer:
    def __init__(self, history: History, inputs: Mapping[str, str], read_file: ReadFile) -> None:
        self.rows: list[PlanRow] = []
        self._history = history
        self._inputs = inputs
        self._read_file = read_file

    def sequence(self, nodes: Sequence[Node], known: _Known) -> None:
        """Explain steps that follow one another."""
        led_to = reachable([node.step for node in nodes])
        for position, node in enumerate(nodes):
            if position in led_to:
                self.node(node, known)
            else:
                for each in node.walk():
                    self._add(each, Action.SKIP, "no route leads to it")

    def node(self, node: Node, known: _Known) -> None:
        """Explain one step, what it holds, and its hooks."""
        if node.children:
            self._block(node, known)
        elif is_matrix(node.step):
            self._matrix(node, known)
        elif isinstance(node.step, GetStep):
            self._get(node, known)
        else:
            self._leaf(node, known)
        if known.cause is None:
            known.cause = self._change(node)
        self.hooks(node.hooks, f"`{node.name}`")

    def hooks(self, hooks: Mapping[str, Node], owner: str) -> None:
        """Explain what runs when a step or job has ended; how it ends nobody knows, so that it is taken to succeed."""
        for when, hook in hooks.items():
            action = Action.RUN if when in ("on_success", "ensure") else Action.SKIP
            self._add(hook, action, _HOOK_REASONS[when].format(owner))

    def _matrix(self, node: Node, known: _Known) -> None:
        """Explain a matrix whose values stand in a file: cell by cell where that file is known to be the same."""
        reason = "its cells are known only when it runs; each is reused or runs by itself"
        try:
            cells = self._cells(node, known)
        except InputError as exc:
            cells, reason = (), str(exc)
        if cells:
            self._block(replace(node, children=cells), known)
        else:
            self._add(node, Action.RUN, reason)
            self._forget_outputs(node, known)

    def _cells(self, node: Node, known: _Known) -> tuple[Node, ...]:
        """Return the cells; none while the file is not known. Raises: InputError for what cannot be values."""
        values: dict[str, Sequence[str]] = {}
        if node.step.deferred is not None:
            return ()
        for axis in axes_of(node.step):
            if axis.from_file is None:
                continue
            artifact, _, path = axis.from_file.partition("/")
            digest = known.digests.get(artifact) or self._inputs.get(artifact)
            content = None if digest is None else self._read_file(digest, path)
            if content is None:
                return ()
            values[axis.var] = read_axis(axis, content)
        return tuple(expand(node, values))

    def _block(self, node: Node, known: _Known) -> None:
        place = len(self.rows)
        self._add(node, Action.RUN, "")
        if node.kind in ("do", "try"):
            self.sequence(node.children, known)
        else:
            branches = [known.branch() for _ in node.children]
            for child, branch in zip(node.children, branches, strict=True):
                self.node(child, branch)
            for branch in branches:
                known.take(branch, blames=not is_matrix(node.step))
        actions = [row.action for row in self.rows[place + 1 :] if row.parent == node.path]
        count = sum(action is Action.REUSE for action in actions)
        is_reused = count == len(actions)
        what = "cells" if is_matrix(node.step) else "steps"
        reason = f"{count} of {len(actions)} {what} reused" if count else f"none of its {what} is reused"
        action = Action.REUSE if is_reused else Action.RUN
        self.rows[place] = msgspec.structs.replace(self.rows[place], action=action, reason=reason)
        if is_matrix(node.step):
            self._collect(node, known, is_reused=is_reused)
        elif isinstance(node.step, RaceStep):
            for name in {name for child in node.children for name in outputs_of(child.step).values()}:
                known.forget(name, f"comes from the branch of `{node.name}` that wins")

    def _collect(self, node: Node, known: _Known, *, is_reused: bool) -> None:
        """Note what a matrix leaves: the same as before when nothing of it runs."""
        self._forget_outputs(node, known)
        earlier = self._history.earlier(node)
        if is_reused and earlier is not None and earlier.hash == node.hash:
            for artifact, digest in earlier.outputs.items():
                known.learn(artifact, digest)

    def _get(self, node: Node, known: _Known) -> None:
        earlier = self._history.earlier(node)
        reason = "gets always look for a new version"
        digest = self._inputs.get(node.name)
        if digest is None:
            known.forget(node.name, "is known only once it has been fetched")
        else:
            known.learn(node.name, digest)
            if earlier is not None and node.name in earlier.outputs:
                is_same = earlier.outputs[node.name] == digest
                reason += f"; its bytes are those of run {earlier.run_id}" if is_same else "; it has new bytes"
        self._add(node, Action.RUN, reason)

    def _leaf(self, node: Node, known: _Known) -> None:
        reason, outputs = reusable(node), None
        if reason is None and node.step.deferred is not None:
            reason = f"uses `(({min(node.step.deferred.names)}))`, which is known only during the run"
        if reason is None:
            reason, outputs = self._look_for_result(node, known)
        if node.step.when is not None:
            reason += "; its `when:` is asked first"
        self._add(node, Action.RUN if outputs is None else Action.REUSE, reason)
        if outputs is None:
            self._forget_outputs(node, known)
            return
        for artifact in outputs_of(node.step).values():
            known.learn(artifact, outputs[artifact])

    def _look_for_result(self, node: Node, known: _Known) -> tuple[str, Mapping[str, str] | None]:
        """Return the outputs of the result that the step would take over, None when it runs; and why."""
        earlier = self._history.earlier(node)
        needed = inputs_of(node.step)
        digests = {own: known.digests.get(artifact) or self._inputs.get(artifact) for own, artifact in needed.items()}
        there = {own: digest for own, digest in digests.items() if digest is not None}
        if len(there) == len(digests):
            result = self._history.find_result(node, there)
            if result is not None and result.outputs.keys() >= set(outputs_of(node.step).values()):
                return f"unchanged since run {result.run_id}", result.outputs
        if earlier is None:
            return "never ran", None
        if earlier.hash != node.hash:
            changes = changed_parts(earlier.parts, node.fingerprint.parts)
            return _listed(changes) or known.cause or "the steps before it changed", None
        if unknown := [own for own in digests if own not in there]:
            return f"input `{unknown[0]}` {known.unknown.get(needed[unknown[0]], 'is not there yet')}", None
        new = [f"`{own}`" for own, digest in there.items() if earlier.inputs.get(needed[own]) != digest]
        if new:
            return f"input {new[0]} has new bytes" if len(new) == 1 else f"inputs {_listed(new)} have new bytes", None
        return _why_not_kept(earlier), None

    def _change(self, node: Node) -> str | None:
        """Say how a step is not what it was, so that every hash behind it is another one; None when it is."""
        earlier = self._history.earlier(node)
        if earlier is None:
            return f"`{node.name}` before it is new"
        if earlier.hash == node.hash or node.step.deferred is not None:  # that one ran under the hash of its values
            return None
        is_its_own = earlier.parts != node.fingerprint.parts or node.children or node.hooks
        return f"`{node.name}` before it changed" if is_its_own else "the steps before it changed"

    def _forget_outputs(self, node: Node, known: _Known) -> None:
        for artifact in outputs_of(node.step).values():
            known.forget(artifact, f"is made anew by `{node.name}`")

    def _add(self, node: Node, action: Action, reason: str) -> None:
        parent = node.parent.path if node.parent else None
        self.rows.append(PlanRow(node.path, parent, node.name, node.kind, action, reason, node.hash))


def _why_not_kept(earlier: EarlierStep) -> str:
    if earlier.outcome in ("succeeded", "reused"):
        return "its result is no longer kept"
    how = {"": "was cut off", "aborted": "was stopped", "skipped": "was skipped"}
    return f"it {how.get(earlier.outcome, earlier.outcome)} in run {earlier.run_id}"


def _listed(words: Sequence[str]) -> str:
    rest = len(words) - _NAMED
    return ", ".join(words[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
