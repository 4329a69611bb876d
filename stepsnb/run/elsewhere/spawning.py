"""The side that has the run: sends branches and cells elsewhere, records what they do, takes over what they leave."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from ...config import AgentStep, BuiltinGrant, GetStep, PutStep, PythonGrant
from ...events import Event, Note, Request, StepFinished, StepSkipped, StepStarted
from ...outcome import Outcome
from ...plan import Node, Plan
from ...tools import AskReply, AskRequest
from ..blocks.walking import Walking
from ..context import RunContext
from ..models import agents_within
from ..results import StepResult
from ..scope import Scope
from ..stopping import accept_stop
from ..typed_output import read_output
from .ports import Executor, WorkerLost
from .spec import Ended, Ran, decided, document_of, spec_of


class Spawner:
    """Sends the steps of one run elsewhere."""

    def __init__(self, executor: Executor, run: RunContext, plan: Plan) -> None:
        self._executor = executor
        self._run = run
        self._plan = plan
        self._document = document_of(run.pipeline, run.variables)
        self._places = {node.path: node.hash for node in plan.walk()}

    def reason_to_stay(self, node: Node) -> str | None:
        """Say why a step has to run in the process of its run; None when it can go elsewhere."""
        planned = node.parent.path if node.coordinates and node.parent is not None else node.path
        if planned not in self._places:
            return "it is not in the plan of its pipeline"
        for each in _within(node):
            if isinstance(each.step, GetStep | PutStep):
                return f"`{each.name}` chooses or makes a version for the whole run"
            if isinstance(each.step, AgentStep) and (why := self._bound_to_here(each.step)):
                return why
        return None

    def _bound_to_here(self, step: AgentStep) -> str | None:
        for agent in agents_within(self._run.pipeline, self._run.pipeline.agent(step.agent)):
            if agent.source.client is not None:
                return f"`client: {agent.source.client}` is a variable of this process"
            for grant in agent.tools or ():
                if isinstance(grant, BuiltinGrant) and grant.answered_by is not None:
                    return f"questions of `{agent.name}` are answered by an agent of this process"
                if isinstance(grant, PythonGrant) and ":" not in grant.python:
                    return f"tool `{grant.name}` is a function of this process; name it as `module:function`"
        if step.output is not None and step.output.python is not None and ":" not in step.output.python:
            return f"`output: {step.output.python}` is a class of this process; name it as `module:Class`"
        return None

    async def run_branch(self, walker: Walking, node: Node, scope: Scope, *, parent_id: str) -> StepResult:
        """Run a branch or cell elsewhere, or say in the record of its block why it stays here."""
        if reason := self.reason_to_stay(node):
            self._run.recorder.step(parent_id)(Note(text=f"`{node.name}` runs in the process of its run: {reason}"))
            return await walker.run_node(node, scope, parent_id=parent_id)
        result = await self._run_there(node, scope, anchor=walker.next_id(), parent_id=parent_id)
        if not result.step_id:  # nothing of it was recorded
            return walker.refuse(node, scope, result.outcome, result.reason or "", parent_id=parent_id)
        return result

    async def _run_there(self, node: Node, scope: Scope, *, anchor: str, parent_id: str | None) -> StepResult:
        """Run a step elsewhere and take over what it left; a stop has been handled when this returns."""
        spec = spec_of(
            node,
            scope,
            document=self._document,
            job=self._plan.job.name,
            workspace=self._run.workspace,
            run_id=self._run.recorder.run_id,
            anchor=anchor,
            parent_id=parent_id,
            notes_wanted=self._run.notes_wanted,
            is_cached=self._run.cache is not None,
        )
        ports = RunPorts(self._run, scope)
        try:
            ran = await self._executor.spawn(spec, ports)
        except asyncio.CancelledError:
            accept_stop()
            return ports.close(node, Outcome.ABORTED, "stopped")
        except WorkerLost as exc:
            return ports.close(node, Outcome.ERRORED, str(exc))
        return self._take(ran, node, scope)

    def _take(self, ran: Ran, node: Node, scope: Scope) -> StepResult:
        for ref in ran.artifacts:
            tree = ref.tree(self._run.workspace)
            self._run.artifacts[tree.name] = tree
            scope.keep(tree)
        steps = {each.name: each for each in _within(node)}
        scope.executed += [self._result(each, steps.get(each.name)) for each in ran.executed]
        scope.decisions |= decided(ran.decisions)
        scope.variables |= ran.variables
        return self._result(ran.result, node)

    def _result(self, ended: Ended, node: Node | None) -> StepResult:
        result = ended.result()
        reason, text, note = (
            None if value is None else self._run.recorder.redact(value)
            for value in (result.reason, result.text, result.note)
        )
        data = None if node is None else read_output(node.step, result.output, self._run.functions)
        return replace(result, reason=reason, text=text, note=note, data=data)


class RunPorts:
    """The ports of one step that runs elsewhere, on the side of its run."""

    def __init__(self, run: RunContext, scope: Scope) -> None:
        self._run = run
        self._scope = scope
        self._open: dict[str, StepStarted] = {}

    def emit(self, event: Event) -> None:
        """Record an event as one of the run's, and count its tokens."""
        match event:
            case StepStarted():
                self._open[event.step_id] = event
            case StepFinished() | StepSkipped():
                self._open.pop(event.step_id, None)
            case Request():
                self._scope.meter.add(event)
            case _:
                pass
        self._run.recorder.emit(event)

    async def settle(self) -> None:
        """Wait until everything recorded so far is on the disk."""
        await self._run.recorder.settle()

    async def ask(self, request: AskRequest, *, step_id: str, agent: str) -> AskReply:
        """Put a question to the run's people."""
        return await self._run.ask(request, step_id=step_id, agent=agent)

    def close(self, node: Node, outcome: Outcome, reason: str) -> StepResult:
        """End in the record what nobody will end any more, the innermost first; without an id if nothing had begun."""
        result = StepResult("", node.name, node.kind, outcome, reason, is_final=True)
        for step_id, started in reversed(self._open.items()):
            self._run.recorder.step(step_id)(
                StepFinished(
                    name=started.name, step_kind=started.step_kind, outcome=outcome, reason=reason, is_final=True
                )
            )
            result = replace(result, step_id=step_id)
        self._open.clear()
        if result.step_id:
            self._scope.executed.append(result)
        return result


def _within(node: Node) -> Iterator[Node]:
    """Yield a node, everything inside it, and their hooks."""
    for each in node.walk():
        yield each
        for hook in each.hooks.values():
            yield from _within(hook)
