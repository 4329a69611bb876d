"""What every resource type offers: versions to choose from, and content in and out."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .versions import Version


class ResourceType(ABC):
    """One kind of outside thing that steps fetch and publish.

    Every method raises ResourceError, whose `has_failed` tells a program that said no from machinery that broke, and
    may be cancelled: nothing it started runs on then.
    """

    name: str
    """The type's name in the pipeline."""

    @abstractmethod
    async def check(self, source: Mapping[str, Any], version: Version | None) -> list[Version]:
        """Return the versions from `version` on, oldest first, or the current ones when it is None.

        `version` itself may be among them.
        """

    @abstractmethod
    async def fetch(
        self, source: Mapping[str, Any], version: Version | None, params: Mapping[str, Any], folder: Path
    ) -> None:
        """Fill the empty `folder` with the content of exactly this version.

        None asks for what is there now; only types that need no check take it (`needs_check`).
        """

    @abstractmethod
    async def publish(self, source: Mapping[str, Any], params: Mapping[str, Any], folder: Path) -> Version | None:
        """Publish from `folder`, which holds the step's inputs by name; return the version that made, when known."""

    def fetch_identity(self) -> Mapping[str, Any]:
        """Return what else decides what `fetch` gives: the type's own program, and where it runs."""
        return {}

    needs_check: bool = True
    """Whether a version must be known before content can be fetched."""

    runs_programs: bool = False
    """Whether fetching runs programs of the user's, which may leave others behind that go on writing."""
