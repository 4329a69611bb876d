"""What is known of a server that does not answer as it should."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Heard:
    """What a server said besides its messages, and how it ended.

    `problem` is what went wrong, `is_final` that another try would end the same, and `is_passing` that the connection
    is as good as before.
    """

    stderr: bytearray = field(default_factory=bytearray)
    junk: str | None = None
    problem: str | None = None
    exit_code: int | None = None
    is_final: bool = False
    is_passing: bool = False

    def describe(self) -> str:
        """Say what is known of a program that does not answer; empty when nothing is."""
        parts = []
        if self.problem is not None:
            parts.append(self.problem)
        elif self.exit_code is not None:
            parts.append(f"its program ended with exit code {self.exit_code}")
        if self.junk is not None:
            parts.append(f"it printed `{self.junk}`, which is no message; a server's own output belongs on stderr")
        if words := self.stderr.decode("utf-8", "replace").strip():
            parts.append(f"its stderr ends: {words}")
        return "; ".join(parts)


_of_call: ContextVar[Heard | None] = ContextVar("_of_call", default=None)


@contextmanager
def heard_by_call() -> Iterator[Heard]:
    """Keep apart what an address answers to one call: several are under way at once, and the SDK sends each in the
    context of its caller.
    """
    heard = Heard()
    token = _of_call.set(heard)
    try:
        yield heard
    finally:
        _of_call.reset(token)


def heard_here() -> Heard | None:
    """Return what belongs to the call whose context this is; None outside of calls."""
    return _of_call.get()
