"""What a caller says about one model request: the tools there are, which of them it may call, who listens."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model sees it; `parameters` is a JSON schema of type `object`."""

    name: str
    description: str
    parameters: dict[str, Any]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What the next reply may be.

    `tools` names the tools it may call, None means all that were granted. `must_call` asks for a call of one of
    them, `may_call=False` withholds them. `arguments` maps a tool to the arguments that have only these values
    (one, or a list of them); it narrows what a model in json mode can say at all and is not sent to one that
    calls tools natively.
    """

    tools: tuple[str, ...] | None = None
    must_call: bool = False
    may_call: bool = True
    arguments: Mapping[str, Mapping[str, Any]] = {}


class Listener(Protocol):
    """Hears a reply while its bytes arrive."""

    def text(self, delta: str) -> None:
        """Take a piece of the reply's text; never empty."""

    def thinking(self, delta: str) -> None:
        """Take a piece of the model's thinking; never empty."""
