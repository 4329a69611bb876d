"""What magics are given: the options of runs, and what the notebook has by name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MagicOptions:
    """What the options of a magic say about a run; the names are those of the Python API."""

    vars: dict[str, object] = field(default_factory=dict)
    answers: dict[str, str] | list[str] | None = None
    files: list[str] | None = None
    store: str | None = None
    memory: bool = False
    record: str | None = None
    replay: str | None = None
    parks: bool = False

    def to_arguments(self) -> dict[str, Any]:
        """Return them as keyword arguments of the API's `start` and `open`."""
        return {
            "vars": self.vars or None,
            "answers": self.answers,
            "files": self.files,
            "store": self.store,
            "memory": self.memory,
            "record": self.record,
            "replay": self.replay,
            "parks": self.parks,
        }


class Functions(Mapping[str, Callable[..., Any]]):
    """What the notebook has by name, as it is when it is looked up: functions, classes, clients."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self._namespace[name]  # type: ignore[no-any-return]  # a notebook's namespace holds anything

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(self._namespace) if not name.startswith("_"))

    def __len__(self) -> int:
        return sum(1 for _ in self)
