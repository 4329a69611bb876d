"""What is known of a server that does not answer as it should."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Heard:
    """What a server said besides its messages, and how it ended.

    `problem` is why it is of no more use, and `is_final` that another try would end the same.
    """

    stderr: bytearray = field(default_factory=bytearray)
    junk: str | None = None
    problem: str | None = None
    exit_code: int | None = None
    is_final: bool = False

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
