"""Where the steps of a pipeline work, and what is kept of them."""

from collections.abc import Iterator

from pydantic import Field

from .concept import Complaint, Concept
from .scalars import AtLeast1, Flag, Text


class CacheSpec(Concept):
    """What is kept for later runs."""

    resources: Flag | None = Field(default=None, description="Keep fetched versions of resources.")
    max_entries: AtLeast1 | None = Field(default=None, description="Results that are kept, the oldest go first.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a cache that says nothing."""
        if self.resources is None and self.max_entries is None:
            text = "`workspace.cache:` says nothing; give `resources:` or `max_entries:`, or remove it"
            yield Complaint((), text, ("resources", "max_entries"))


class WorkspaceSpec(Concept):
    """`workspace:` of a pipeline."""

    root: Text | None = Field(default=None, description="Folder for the steps' directories, relative to the file.")
    cache: CacheSpec | None = None

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a workspace that says nothing."""
        if self.root is None and self.cache is None:
            text = "`workspace:` says nothing; give `root:` or `cache:`, or remove it"
            yield Complaint((), text, ("root", "cache"))
