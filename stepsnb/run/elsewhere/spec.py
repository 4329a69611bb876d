"""What it takes to run one step of a plan somewhere else, as plain data, and what comes of it.

Files do not travel in it: artifacts are named by their content, and lie in a store's folder that both sides can reach.
"""

import json
from collections.abc import Mapping
from typing import Final

import msgspec

from ...config import Pipeline
from ...outcome import Outcome
from ...plan import Node
from ...workspace import ArtifactTree, RunWorkspace
from ..opening import Decision
from ..results import StepResult
from ..scope import Scope


class Document(msgspec.Struct, frozen=True):
    """A pipeline's text and what it takes to load it again; `variables` are JSON texts."""

    text: str
    file: str
    base_dir: str
    variables: dict[str, str]


class TreeRef(msgspec.Struct, frozen=True):
    """An artifact by its content; `path` is relative to the store's folder."""

    name: str
    path: str
    digest: str
    files: list[str]
    bytes: int

    @classmethod
    def of(cls, tree: ArtifactTree, workspace: RunWorkspace) -> "TreeRef":
        """Refer to a tree in a store."""
        return cls(tree.name, workspace.relative(tree.path), tree.digest, list(tree.files), tree.bytes)

    def tree(self, workspace: RunWorkspace) -> ArtifactTree:
        """The tree in that store."""
        return ArtifactTree(self.name, workspace.root / self.path, self.digest, tuple(self.files), self.bytes)


class Told(msgspec.Struct, frozen=True):
    """What a step decided."""

    verdict: str
    note: str | None
    text: str | None


class StepSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One step to be run, with all that is inside it and all that it finds.

    `path` is its place in the plan of `job`; for a cell that of its matrix, and `coordinates` say which cell. `hash` is
    the identity it must have there too. Ids of its steps begin with `anchor`. `artifacts`, `decisions` and `variables`
    are what the steps before it left. `is_cached` says whether results of earlier runs may be taken over.
    """

    document: Document
    job: str
    path: str
    coordinates: dict[str, str]
    hash: str
    run_id: str
    anchor: str
    parent_id: str | None
    artifacts: dict[str, TreeRef]
    decisions: dict[str, Told]
    variables: dict[str, str]
    notes_wanted: list[str]
    is_cached: bool


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How one step ended; `output` is its typed output as JSON."""

    step_id: str
    name: str
    kind: str
    outcome: Outcome
    reason: str | None = None
    text: str | None = None
    verdict: str | None = None
    note: str | None = None
    output: str | None = None
    is_final: bool = False
    tried: Outcome | None = None

    @classmethod
    def of(cls, result: StepResult) -> "Ended":
        """Write a result down."""
        return cls(**{name: getattr(result, name) for name in cls.__struct_fields__})

    def result(self) -> StepResult:
        """The result, without the value of its typed output."""
        return StepResult(**{name: getattr(self, name) for name in self.__struct_fields__})


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a spec: how its step ended, the steps that ran in it, and what they left."""

    result: Ended
    executed: list[Ended]
    artifacts: list[TreeRef]
    decisions: dict[str, Told]
    variables: dict[str, str]


_decode_spec: Final = msgspec.json.Decoder(StepSpec).decode
_decode_ran: Final = msgspec.json.Decoder(Ran).decode


def encode_spec(spec: StepSpec) -> bytes:
    """Write a spec as JSON."""
    return msgspec.json.encode(spec)


def decode_spec(data: bytes) -> StepSpec:
    """Read what `encode_spec` wrote. Raises: msgspec.DecodeError."""
    return _decode_spec(data)


def encode_ran(ran: Ran) -> bytes:
    """Write what came of a spec as JSON."""
    return msgspec.json.encode(ran)


def decode_ran(data: bytes) -> Ran:
    """Read what `encode_ran` wrote. Raises: msgspec.DecodeError."""
    return _decode_ran(data)


def document_of(pipeline: Pipeline, variables: Mapping[str, object]) -> Document:
    """Return what it takes to load a pipeline again."""
    return Document(pipeline.source_text, pipeline.file, str(pipeline.base_dir.absolute()), as_json(variables))


def as_json(variables: Mapping[str, object]) -> dict[str, str]:
    """Return the variables that can be written down; a DataFrame cannot, and has to be given again."""
    texts = {}
    for name, value in variables.items():
        try:
            texts[name] = json.dumps(value)
        except (TypeError, ValueError):
            continue
    return texts


def spec_of(
    node: Node,
    scope: Scope,
    *,
    document: Document,
    job: str,
    workspace: RunWorkspace,
    run_id: str,
    anchor: str,
    parent_id: str | None,
    notes_wanted: frozenset[str],
    is_cached: bool,
) -> StepSpec:
    """Write down a node and what it finds."""
    is_cell = bool(node.coordinates) and node.parent is not None
    return StepSpec(
        document=document,
        job=job,
        path=node.parent.path if is_cell and node.parent is not None else node.path,
        coordinates=dict(node.coordinates),
        hash=node.hash,
        run_id=run_id,
        anchor=anchor,
        parent_id=parent_id,
        artifacts={name: TreeRef.of(tree, workspace) for name, tree in scope.artifacts.items()},
        decisions=told(scope.decisions),
        variables=dict(scope.variables),
        notes_wanted=sorted(notes_wanted),
        is_cached=is_cached,
    )


def told(decisions: Mapping[str, Decision]) -> dict[str, Told]:
    """Write decisions down."""
    return {name: Told(each.verdict, each.note, each.text) for name, each in decisions.items()}


def decided(told: Mapping[str, Told]) -> dict[str, Decision]:
    """Read decisions that were written down."""
    return {name: Decision(each.verdict, each.note, each.text) for name, each in told.items()}
