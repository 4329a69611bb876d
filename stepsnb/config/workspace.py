"""Where the steps of a pipeline work, and what is kept of them."""

from collections.abc import Iterator

from pydantic import Field

from .concept import Complaint, Concept
from .scalars import AtLeast1, Flag, Text


class CacheSpec(Concept):
    """What is kept for later runs."""

    max_entries: AtLeast1 | None = Field(
        default=None, description="Results that are kept, and fetched versions as well; the oldest go first."
    )
    resources: Flag = Field(default=False, description="Keep fetched versions, and do not fetch the same one again.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a cache that says nothing."""
        if self.max_entries is None and not self.resources:
            text = "`workspace.cache:` says nothing; give `max_entries:` or `resources: true`, or remove it"
            yield Complaint((), text, ("max_entries", "resources"))


class WorkspaceSpec(Concept):
    """`workspace:` of a pipeline."""

    root: Text | None = Field(default=None, description="Folder for the steps' directories, relative to the file.")
    cache: CacheSpec | None = None

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a workspace that says nothing."""
        if self.root is None and self.cache is None:
            text = "`workspace:` says nothing; give `root:` or `cache:`, or remove it"
            yield Complaint((), text, ("root", "cache"))
