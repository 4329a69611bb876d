"""Walks the steps of a plan: guards, attempts, blocks and hooks around what each kind of step does itself."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..config import (
    AgentStep,
    DoStep,
    EnsembleStep,
    InParallelStep,
    LoadVarStep,
    PutStep,
    RaceStep,
    TaskStep,
    TryStep,
    resolve_step,
)
from ..errors import InputError, StepsError, StoreError
from ..events import StepFinished, StepSkipped, StepStarted
from ..outcome import Outcome
from ..plan import Node, rehash
from ..workspace import Root
from .attempts import run_with_attempts
from .blocks import run_across, run_ensemble, run_in_parallel, run_race
from .context import RunContext, allowed_time
from .deadline import in_time
from .elsewhere import Spawner
from .guard import guard_says_no
from .hooks import run_hooks
from .past import Done, Past
from .results import StepResult
from .routing import Routing
from .scope import Scope
from .step import inputs_of
from .steps.load_var import read_variable
from .taken_over import TakenOver
from .typed_output import Outdated, read_output
from .visits import counts, is_branch, is_matrix


class Walker:
    """Runs nodes of one plan; everything happens on the engine's loop.

    `is_overdue` says whether the job's own time is over: no further step, branch or cell is begun then.
    """

    def __init__(
        self,
        run: RunContext,
        *,
        is_overdue: Callable[[], bool] = lambda: False,
        past: Past | None = None,
        count: int = 0,
        anchor: str | None = None,
        spawner: Spawner | None = None,
    ) -> None:
        """Begin a walk; `past` is what an earlier run got done of it, `count` how many step ids that run used.

        With an `anchor`, the id of a step that runs elsewhere, the ids of its steps are that one with a number. A
        `spawner` sends branches and cells elsewhere.
        """
        self.run = run
        self.is_overdue = is_overdue
        self._past = past or Past()
        self._count = count
        self._spawner = spawner
        self._ids = "s" if anchor is None else f"{anchor}-"
        self._continued: dict[str | None, list[str]] = {}  # by a block's visit, those before that it goes on with
        self._over: set[str | None] = set()  # visits that ended in an earlier part of the run
        self._moved_on: set[str | None] = set()  # visits of sequences in which something has run anew
        self._been: set[str] = set()  # places of steps that have had their turn
        self._taken_over = TakenOver(run.recorder)

    def next_id(self) -> str:
        """Make the id of one more step of the run."""
        self._count += 1
        return f"{self._ids}{self._count}"

    def has_done(self, node: Node) -> bool:
        """Whether an earlier run got this step of the plan done, with all that is inside it."""
        return self._past.has_done(node.path)

    def is_over(self, step_id: str) -> bool:
        """Whether a block is only gone through again, since it came to its end in an earlier part of the run."""
        return step_id in self._over

    async def run_node(self, node: Node, scope: Scope, *, parent_id: str | None = None) -> StepResult:
        """Run one step of any kind to the end of its hooks, and return how it went for the steps after it.

        What ran is appended to the scope's trail. Raises: StoreError; and what nobody foresaw.
        """
        try:
            step = resolve_step(node.step, scope.variables, self.run.pipeline)
            if step is not node.step:
                node = rehash(replace(node, step=step))  # reuse depends on the values it got
            result = await self._run_guarded(node, scope, parent_id)
        except StoreError:
            raise
        except StepsError as exc:
            result = self.refuse(node, scope, Outcome.ERRORED, str(exc), parent_id=parent_id)
        if parent_id in self._over:
            if not result.step_id:
                return result  # it never began, and neither did its hooks
            self._over.add(result.step_id)
        outcome, reason = await run_hooks(
            node.hooks, result.outcome, lambda hook: self.run_node(hook, scope, parent_id=result.step_id)
        )
        if outcome is not result.outcome:
            return replace(result, outcome=outcome, reason=reason)
        return _as_tried(result) if isinstance(node.step, TryStep) else result

    async def run_branch(self, node: Node, scope: Scope, *, parent_id: str) -> StepResult:
        """Run a branch or cell, elsewhere if there is such a place; what a resumed run has left is done here."""
        if self._spawner is None or self._past:
            return await self.run_node(node, scope, parent_id=parent_id)
        return await self._spawner.run_branch(self, node, scope, parent_id=parent_id)

    async def run_sequence(self, nodes: Sequence[Node], scope: Scope, *, parent_id: str | None = None) -> StepResult:
        """Run steps in order, or where their routes lead, to the end or to the first that stops them.

        Returns the last result; its outcome is that of the sequence, which has succeeded when its last step was
        skipped, reused or routed on.
        """
        routing, position = Routing(nodes), 0
        result = StepResult("", "", "do", Outcome.SUCCEEDED)
        while position < len(nodes):
            if self.is_overdue():
                return replace(result, outcome=Outcome.FAILED, reason="the job's `timeout:` is over")
            result = await self.visit(routing, nodes, position, scope, parent_id=parent_id)
            following = routing.after(position, result)
            if following is None:
                return result
            position = following
        return replace(result, outcome=Outcome.SUCCEEDED, reason=None)

    async def visit(
        self, routing: Routing, nodes: Sequence[Node], position: int, scope: Scope, *, parent_id: str | None = None
    ) -> StepResult:
        """Run the step at one position, unless it was visited too often."""
        refusal = routing.visit(position)
        if refusal is None:
            return await self.run_node(nodes[position], scope, parent_id=parent_id)
        return self.refuse(nodes[position], scope, Outcome.FAILED, refusal, parent_id=parent_id)

    def refuse(
        self, node: Node, scope: Scope, outcome: Outcome, refusal: str, *, parent_id: str | None = None
    ) -> StepResult:
        """Record a step that did not get to its own work; no route catches that."""
        if parent_id in self._over and (done := self._find(node, parent_id)[0]) is not None:
            return self._recall(done, node, scope, parent_id)
        result = StepResult(self.next_id(), node.name, node.kind, outcome, refusal, is_final=True)
        emit = self.run.recorder.step(result.step_id)
        emit(StepStarted(name=node.name, step_kind=node.kind, index=node.index, parent_id=parent_id, node=node.path))
        emit(StepFinished(name=node.name, step_kind=node.kind, outcome=outcome, reason=refusal, is_final=True))
        scope.executed.append(result)
        return result

    async def _run_guarded(self, node: Node, scope: Scope, parent_id: str | None) -> StepResult:
        is_block = isinstance(node.step, DoStep | InParallelStep | RaceStep | EnsembleStep | TryStep) or is_matrix(node)
        done, cut = self._find(node, parent_id)
        if done is not None:
            if is_block:
                return await self._go_through(done, cut, node, scope, parent_id)
            return self._recall(done, node, scope, parent_id)
        if parent_id in self._over and not isinstance(node.step, TryStep):
            return StepResult("", node.name, node.kind, Outcome.ABORTED, "never begun")
        has_begun = bool(cut) or self._past.has_begun_inside(node.path, self._visits_of(parent_id))
        if not isinstance(node.step, TryStep) and not is_branch(node):
            self._moved_on.add(parent_id)
        if node.step.when is not None and not is_matrix(node) and not (is_block and has_begun):
            refusal = await guard_says_no(node, self.run, scope)
            if refusal is not None:
                return self._skip(node, refusal, parent_id)
        if is_block:
            return await self._run_block(node, scope, parent_id, cut)
        # A route that leads back wants the step to be done again, not what it left the last time.
        reused = None if node.path in self._been else self._reuse(node, scope, parent_id)
        self._been.add(node.path)
        preflight = self.run.preflight
        if reused is not None:
            if preflight is not None:
                preflight.spare(node)
        else:
            refusal = None if preflight is None else await preflight.refusal(node)
            if refusal is not None:
                return self.refuse(node, scope, Outcome.ERRORED, refusal, parent_id=parent_id)
            reused = await run_with_attempts(node, self.run, scope, next_id=self.next_id, parent_id=parent_id)
        scope.executed.append(reused)
        return reused

    def _find(self, node: Node, parent_id: str | None) -> tuple[Done | None, list[Done]]:
        """Return the visit of a step that need not be repeated, and those that came before it and were no use.

        In a sequence nothing counts any more once a step has run anew: it may leave something else behind.
        """
        done, cut = self._past.take(node.path, self._visits_of(parent_id), lambda visit: self._counts(node, visit))
        if done is None and cut and parent_id in self._over:
            done = cut.pop()  # it failed or was stopped, and what is around it took that into account
        return done, cut

    def _counts(self, node: Node, visit: Done) -> bool:
        """Whether a visit need not be repeated, and its typed output can be read again."""
        if not counts(node, visit):
            return False
        try:
            self._data(node, visit.result.output)
        except Outdated:
            return False
        return True

    def _data(self, node: Node, output: str | None) -> object:
        return read_output(node.step, output, self.run.functions)

    def _visits_of(self, visit: str | None) -> list[str | None]:
        """Return the ids a visit had: one that goes on with earlier ones stands for them."""
        return [] if visit in self._moved_on else [visit, *self._continued.get(visit, ())]

    async def _go_through(
        self, done: Done, cut: Sequence[Done], node: Node, scope: Scope, parent_id: str | None
    ) -> StepResult:
        """Go through a block that had ended, so that what its steps left is there again; nothing of it runs."""
        self._taken_over.tell(done, node, parent_id)
        step_id = done.result.step_id
        if done.result.outcome is not Outcome.SKIPPED:
            self._continued[step_id] = [each.result.step_id for each in cut]
            self._over.add(step_id)
            await self._walk_block(node, scope, step_id)
            self._over.discard(step_id)
        for tree in done.trees:
            self.run.artifacts[tree.name] = tree
            scope.keep(tree)
        return done.result

    def _recall(self, done: Done, node: Node, scope: Scope, parent_id: str | None) -> StepResult:
        """Go on as if a step had just ended that an earlier run got done; nothing of it is recorded again."""
        self._taken_over.tell(done, node, parent_id)
        self._been.add(node.path)
        for tree in done.trees:
            self.run.artifacts[tree.name] = tree
            scope.keep(tree)
        for version in done.versions:
            self.run.versions.recall(node.name, version)
        if done.decision is not None:
            scope.decisions[node.step.name] = done.decision
        if isinstance(node.step, LoadVarStep) and done.result.outcome is Outcome.SUCCEEDED:
            # Read again: what was recorded of it may be shortened, or have a secret hidden.
            artifact, _, path = node.step.file.partition("/")
            scope.variables[node.step.load_var] = read_variable(node.step, Root(scope.artifacts[artifact].path), path)
        result = replace(done.result, data=self._data(node, done.result.output))
        if result.outcome is not Outcome.SKIPPED:
            scope.executed.append(result)
        return result

    def _reuse(self, node: Node, scope: Scope, parent_id: str | None) -> StepResult | None:
        """Take over what the step left when it last ran with the same content and inputs; None when it has to run."""
        cache = self.run.cache
        if cache is None:
            return None
        try:
            found = cache.find(node, inputs_of(node.step, scope))
        except InputError:
            return None  # running it says what is missing
        if found is None:
            return None
        entry, trees = found
        try:
            data = self._data(node, entry.output)
        except Outdated:
            return None
        step_id, reason = self.next_id(), f"unchanged since run {entry.run_id}"
        emit = self.run.recorder.step(step_id)
        emit(
            StepSkipped(
                name=node.name,
                step_kind=node.kind,
                index=node.index,
                reason=reason,
                reused=True,
                parent_id=parent_id,
                node=node.path,
                hash=node.hash,
                parts=node.fingerprint.parts,
                response=entry.text,
                output=entry.output,
            )
        )
        for tree in trees:
            self.run.keep(tree, emit)
            scope.keep(tree)
        return StepResult(
            step_id, node.name, node.kind, Outcome.REUSED, reason, entry.text, data=data, output=entry.output
        )

    def _skip(self, node: Node, reason: str, parent_id: str | None) -> StepResult:
        step_id = self.next_id()
        self.run.recorder.step(step_id)(
            StepSkipped(
                name=node.name,
                step_kind=node.kind,
                index=node.index,
                reason=reason,
                parent_id=parent_id,
                node=node.path,
                hash=node.hash,
            )
        )
        return StepResult(step_id, node.name, node.kind, Outcome.SKIPPED, reason)

    async def _run_block(self, node: Node, scope: Scope, parent_id: str | None, cut: Sequence[Done]) -> StepResult:
        """Run a block, again while it fails and has attempts and time left; each attempt finds what the first found."""
        # The cells of a matrix have attempts and a deadline each.
        step, began = None if is_matrix(node) else node.step, time.monotonic()
        attempts = getattr(step, "attempts", None) or 1
        limit_s = getattr(step, "timeout_s", None) or None
        late = f"took longer than {allowed_time(limit_s, attempts)}"
        for attempt in range(1, attempts + 1):
            own = scope.branch() if attempts > 1 else scope
            ends = None if limit_s is None else began + limit_s
            result = await self._run_inside(node, own, parent_id, () if attempt > 1 else cut, attempt, ends, late)
            is_over = result.outcome not in (Outcome.FAILED, Outcome.ERRORED) or attempt == attempts
            is_over = is_over or result.is_final or (ends is not None and time.monotonic() >= ends)
            if own is not scope and is_over:
                scope.take(own)
            elif own is not scope:
                scope.executed += own.executed
            if is_over:
                break
        return result

    async def _run_inside(
        self,
        node: Node,
        scope: Scope,
        parent_id: str | None,
        cut: Sequence[Done],
        attempt: int,
        ends: float | None,
        why_late: str,
    ) -> StepResult:
        """Run a block, or go on with one of which some is done; its own row says how it went as a whole.

        It is stopped when the clock says `ends`, for the reason `why_late`.
        """
        began = time.monotonic()
        left_s = None if ends is None else ends - began
        if isinstance(node.step, TryStep):
            late = StepResult("", node.name, node.kind, Outcome.FAILED, why_late)
            return await in_time(self.run_node(node.children[0], scope, parent_id=parent_id), left_s, late=late)
        step_id = self.next_id()
        self._continued[step_id] = [each.result.step_id for each in cut]
        emit = self.run.recorder.step(step_id)
        emit(
            StepStarted(
                name=node.name,
                step_kind=node.kind,
                index=node.index,
                parent_id=parent_id,
                hash=node.hash,
                coordinates=dict(node.coordinates),
                attempt=attempt,
                node=node.path,
                parts=node.fingerprint.parts,
            )
        )
        late = StepResult(step_id, node.name, node.kind, Outcome.FAILED, why_late)
        result = await in_time(self._walk_block(node, scope, step_id), left_s, late=late)
        result = replace(result, step_id=step_id, name=node.name, kind=node.kind)
        emit(
            StepFinished(
                name=node.name,
                step_kind=node.kind,
                outcome=result.outcome,
                reason=result.reason,
                duration_s=time.monotonic() - began,
                verdict=result.verdict,
                note=result.note,
                is_final=result.is_final,
            )
        )
        return result

    async def _walk_block(self, node: Node, scope: Scope, step_id: str) -> StepResult:
        match node.step:
            case TaskStep() | AgentStep() | PutStep():
                return await run_across(self, node, scope, step_id)
            case DoStep():
                return await self.run_sequence(node.children, scope, parent_id=step_id)
            case InParallelStep():
                return await run_in_parallel(self, node, scope, step_id)
            case RaceStep():
                return await run_race(self, node, scope, step_id)
            case EnsembleStep():
                return await run_ensemble(self, node, scope, step_id)
            case _:
                raise AssertionError(f"{node.kind} is no block")


def _as_tried(result: StepResult) -> StepResult:
    """Return what counts after a `try:`, which goes on when the step inside failed or broke; routes see that it did."""
    if result.outcome in (Outcome.FAILED, Outcome.ERRORED):
        return replace(result, outcome=Outcome.SUCCEEDED, reason=None, tried=result.outcome)
    return result
