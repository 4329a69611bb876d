"""The resource type `path`: a file or folder of the user's own, whose version is the digest of its content."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ..errors import ResourceError, StepsError
from ..workspace import digest_path, digest_tree, fill_from_path, finish_in_thread
from .base import ResourceType
from .versions import Version

P = ParamSpec("P")
T = TypeVar("T")

_WAY_OUT = "a `path` has only what is there now, so ask for `version: latest`"


class PathType(ResourceType):
    """Files below `base_dir`; `store_root` is never part of what is brought in."""

    name = "path"
    needs_check = False

    def __init__(self, resource: str, *, base_dir: Path, store_root: Path) -> None:
        self._resource = resource
        self._base_dir = base_dir
        self._store_root = store_root

    async def check(self, source: Mapping[str, Any], version: Version | None) -> list[Version]:
        """Return the one version there is; see `ResourceType.check`."""
        where = f"resource `{self._resource}`"
        digest = await self._call(
            digest_path, source, where=where, base_dir=self._base_dir, store_root=self._store_root
        )
        return [{"digest": digest}]

    async def fetch(
        self, source: Mapping[str, Any], version: Version | None, params: Mapping[str, Any], folder: Path
    ) -> None:
        """Copy what is there into `folder`; see `ResourceType.fetch`."""
        if params:
            raise ResourceError(f"resource `{self._resource}`: type `path` has no `params:`; remove them")
        if version is not None and "digest" not in version:
            raise ResourceError(f"resource `{self._resource}`: a version of type `path` is a `digest`; {_WAY_OUT}")
        where = f"resource `{self._resource}`"
        await self._call(
            fill_from_path, source, folder, where=where, base_dir=self._base_dir, store_root=self._store_root
        )
        if version is not None and (await self._call(digest_tree, folder, where)).digest != version["digest"]:
            raise ResourceError(f"{where}: has other content than that version by now; {_WAY_OUT}")

    async def publish(self, source: Mapping[str, Any], params: Mapping[str, Any], folder: Path) -> Version | None:
        """Refuse: nothing is written into a user's folder by a pipeline."""
        raise ResourceError(
            f"resource `{self._resource}`: type `path` cannot be published to; take files out with `copy`"
        )

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await finish_in_thread(function, *args, **kwargs)
        except StepsError as exc:
            raise ResourceError(str(exc)) from exc
