"""Versions that were fetched before: content that is kept under all that fetching it depends on."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from ..errors import WorkspaceError
from ..workspace import ArtifactTree, digest_tree, remove_tree, take_artifact

FOLDER = "cache/resources"
"""Where in a store's folder the entries are, one file each, named by `fetch_key`."""


class _Entry(msgspec.Struct, frozen=True):
    """One fetched version; `path` is that of its artifact, relative to the store's folder."""

    path: str
    digest: str


_decode = msgspec.json.Decoder(_Entry).decode


class KeptVersions:
    """Entries below the folder of one store, at most `max_entries` of them; the ones that were used last stay."""

    def __init__(self, store_root: Path, max_entries: int | None = None) -> None:
        self._store_root = store_root
        self._folder = store_root / FOLDER
        self._max_entries = max_entries

    def find(self, key: str, name: str) -> ArtifactTree | None:
        """Return what is kept under a key as the artifact `name`.

        None when nothing is, or when its content is not what was fetched any more; the entry goes then.
        """
        file = self._file(key)
        try:
            entry = _decode(file.read_bytes())
            path = self._store_root / entry.path
            if take_artifact(self._store_root, path):
                tree = digest_tree(path, name)
                if tree.digest == entry.digest:
                    os.utime(file)
                    return tree
                _put_out_of_the_way(path)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, WorkspaceError):
            pass
        with suppress(OSError):
            file.unlink(missing_ok=True)
        return None

    def keep(self, key: str, tree: ArtifactTree) -> None:
        """Keep what was fetched; a store that cannot be written to keeps nothing."""
        entry = _Entry(tree.path.relative_to(self._store_root).as_posix(), tree.digest)
        file = self._file(key)
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            draft = file.with_name(f"{file.name}.{os.getpid()}")
            draft.write_bytes(msgspec.json.encode(entry))
            draft.replace(file)
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        if self._max_entries is None:
            return
        entries = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for file in entries[self._max_entries :]:
            file.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def _put_out_of_the_way(path: Path) -> None:
    """Remove content that is not what its name says: what is fetched anew would else be taken for a second copy."""
    spoiled = path.with_name(f".{path.name}.{os.getpid()}")
    path.rename(spoiled)
    remove_tree(spoiled)
