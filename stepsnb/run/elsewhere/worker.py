"""The side that runs a spec: the same walker as everywhere, whose record and questions go through ports."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ...config import Pipeline, load_text, resolve_step
from ...errors import InputError
from ...events import Event, TextChunk
from ...mcp import ResourceCalls
from ...people import GivenAnswers, Ladder
from ...plan import Node, Plan, build_plan, expand_one, rehash
from ...workspace import RunWorkspace, finish
from ..context import RunContext
from ..recorder import Recorder
from ..reuse import StepCache
from ..scope import Scope
from ..versions import JobVersions
from ..walk import Walker
from .ports import Ports
from .spec import Document, Ended, Ran, StepSpec, TreeRef, decided, told


async def run_spec(
    spec: StepSpec,
    ports: Ports,
    store_root: Path,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    secrets: Sequence[str] = (),
) -> Ran:
    """Run a step to the end of its hooks.

    Args:
        store_root: The folder of the run's store, as this side reaches it.
        functions: What Python tools are looked up in; `module:function` is imported.
        secrets: Values that must not leave this side in any record.

    Raises: InputError when the pipeline's text makes another step here; StoreError; and what nobody foresaw.
    """
    pipeline, plan = _load(spec.document, spec.job)
    workspace = RunWorkspace(store_root, f"{spec.run_id}-{spec.anchor}", work_root=_work_root(pipeline))
    try:
        kept = pipeline.workspace
        context = RunContext(
            pipeline=pipeline,
            workspace=workspace,
            recorder=_recorder(spec, ports, secrets),
            ladder=Ladder(GivenAnswers.from_value(None), None),
            functions=functions or {},
            variables={name: msgspec.json.decode(text) for name, text in spec.document.variables.items()},
            cache=StepCache(store_root, kept.cache if kept is not None else None) if spec.is_cached else None,
            notes_wanted=frozenset(spec.notes_wanted),
            ask_elsewhere=ports.ask,
        )
        context.versions = JobVersions(pipeline, plan, workspace, spec.run_id, ResourceCalls(context.servers))
        scope = Scope(
            {name: ref.tree(workspace) for name, ref in spec.artifacts.items()},
            decided(spec.decisions),
            dict(spec.variables),
        )
        node = find_node(spec, pipeline, plan)
        try:
            result = await Walker(context, anchor=spec.anchor).run_node(node, scope, parent_id=spec.parent_id)
        finally:
            await finish(context.servers.close())
        return Ran(
            result=Ended.of(result),
            executed=[Ended.of(each) for each in scope.executed],
            artifacts=[TreeRef.of(scope.artifacts[name], workspace) for name in sorted(scope.made)],
            decisions=told(scope.decisions),
            variables=dict(scope.variables),
        )
    finally:
        workspace.close()


def find_node(spec: StepSpec, pipeline: Pipeline, plan: Plan) -> Node:
    """Return the node that a spec is about. Raises: InputError when there is none with its identity."""
    node = next((each for each in plan.walk() if each.path == spec.path), None)
    if node is not None and spec.coordinates:
        step = resolve_step(node.step, spec.variables, pipeline)
        matrix = node if step is node.step else rehash(replace(node, step=step))
        node = expand_one(matrix, spec.coordinates)
    if node is None or node.hash != spec.hash:
        raise InputError(
            f"{spec.document.file}: job `{spec.job}` has another step at `{spec.path}` here than where it was planned; "
            "run the same version of the pipeline and of stepsnb on both sides"
        )
    return node


def _load(document: Document, job: str) -> tuple[Pipeline, Plan]:
    variables = tuple(sorted(document.variables.items()))
    return _load_once(document.text, document.file, document.base_dir, variables, job)


@lru_cache(maxsize=8)
def _load_once(
    text: str, file: str, base_dir: str, variables: tuple[tuple[str, str], ...], job: str
) -> tuple[Pipeline, Plan]:
    values = {name: msgspec.json.decode(value) for name, value in variables}
    pipeline = load_text(text, file=file, base_dir=Path(base_dir), variables=values)
    return pipeline, build_plan(pipeline, job)


def _work_root(pipeline: Pipeline) -> Path | None:
    kept = pipeline.workspace
    return None if kept is None or kept.root is None else pipeline.base_dir / kept.root


def _recorder(spec: StepSpec, ports: Ports, secrets: Sequence[str]) -> Recorder:
    def forward(event: Event) -> None:
        if not isinstance(event, TextChunk):  # the run's own recorder makes these of the deltas
            ports.emit(event)

    return Recorder(spec.run_id, sink=_Sink(ports), watchers=(forward,), secrets=secrets)


class _Sink:
    """Keeps nothing here, and waits for the disk of the run."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def append(self, payload: bytes) -> None:
        """Events go to the run one by one, as they are shown."""

    def settle(self) -> Awaitable[None]:
        """Wait until the run has what was emitted on its disk."""
        return self._ports.settle()
