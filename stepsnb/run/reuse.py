"""The step cache: what a step left when it last ran with the same content and the same input bytes."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ..config import CacheSpec
from ..plan import Node, reusable
from ..workspace import ArtifactTree, take_artifact

CACHE = "cache/steps"
"""Where in a store's folder the entries are, one file each, named by identity and inputs."""


class CachedTree(msgspec.Struct, frozen=True):
    """One output as it was captured; `path` is relative to the store's folder."""

    name: str
    path: str
    digest: str
    files: list[str]
    bytes: int


class CachedStep(msgspec.Struct, frozen=True):
    """What a step left: the run it ran in, its text, its outputs, and the JSON of its typed output."""

    run_id: str
    hash: str
    inputs: dict[str, str]
    text: str | None
    outputs: list[CachedTree]
    output: str | None = None


_decode = msgspec.json.Decoder(CachedStep).decode


class StepCache:
    """Entries below the folder of one store; a run that keeps nothing has none."""

    def __init__(self, store_root: Path, bounds: CacheSpec | None = None) -> None:
        """Use the entries of a store, of which `bounds` may keep only so many."""
        self._store_root = store_root
        self._folder = store_root / CACHE
        self._max_entries = None if bounds is None else bounds.max_entries

    def find(self, node: Node, inputs: Mapping[str, ArtifactTree]) -> tuple[CachedStep, list[ArtifactTree]] | None:
        """Return what the step left before with the same content and inputs, None when it has to run.

        An entry whose outputs are gone, or that cannot be read, is none.
        """
        if not node.hash or reusable(node) is not None:
            return None
        try:
            entry = _decode((self._folder / _key(node, inputs)).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None
        trees = [
            ArtifactTree(
                name=each.name,
                path=self._store_root / each.path,
                digest=each.digest,
                files=tuple(each.files),
                bytes=each.bytes,
            )
            for each in entry.outputs
        ]
        return (entry, trees) if all(take_artifact(self._store_root, tree.path) for tree in trees) else None

    def keep(
        self,
        node: Node,
        inputs: Mapping[str, ArtifactTree],
        *,
        run_id: str,
        text: str | None,
        outputs: Sequence[ArtifactTree],
        output: str | None = None,
    ) -> None:
        """Remember what a step that succeeded left; a store that cannot be written to remembers nothing."""
        if not node.hash or reusable(node) is not None:
            return
        entry = CachedStep(
            run_id=run_id,
            hash=node.hash,
            inputs={name: tree.digest for name, tree in inputs.items()},
            text=text,
            output=output,
            outputs=[
                CachedTree(t.name, t.path.relative_to(self._store_root).as_posix(), t.digest, list(t.files), t.bytes)
                for t in outputs
            ],
        )
        file = self._folder / _key(node, inputs)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            draft = file.with_name(f"{file.name}.{os.getpid()}")
            draft.write_bytes(msgspec.json.encode(entry))
            draft.replace(file)
            self._drop_oldest()
        except OSError:
            return

    def _drop_oldest(self) -> None:
        """Keep the newest `max_entries`. Raises: OSError."""
        if self._max_entries is None:
            return
        entries = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for file in entries[self._max_entries :]:
            file.unlink(missing_ok=True)


def _key(node: Node, inputs: Mapping[str, ArtifactTree]) -> str:
    text = "\n".join([node.hash, *(f"{name}={inputs[name].digest}" for name in sorted(inputs))])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() + ".json"
