"""Where else an agent's requests may go."""

from collections.abc import Iterator

from .concept import Complaint, Concept
from .source import Source


class FallbackSpec(Concept):
    """One more source for an agent, taken when those before it are down."""

    source: Source

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a source that names no model: the default one may be the very model that is down."""
        if self.source.model is None:
            yield Complaint(("source",), "`fallback.source:` names no model; write `model: PROVIDER/NAME`", ("source",))
