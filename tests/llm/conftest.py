"""What the tests of the client share: targets, listeners, and chunks as providers stream them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from stepsnb.llm import Chat, ModelClient, Target, ToolSpec


def build_target(base_url: str = "http://127.0.0.1:9/v1", **fields: Any) -> Target:
    """Build a target at an endpoint, native tools, streaming."""
    defaults: dict[str, Any] = {
        "provider": "endpoint",
        "model": "m1",
        "label": "m1",
        "base_url": base_url,
        "asks_server": False,
    }
    return Target(**{**defaults, **fields})


class Heard:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []

    def text(self, delta: str) -> None:
        self.texts.append(delta)

    def thinking(self, delta: str) -> None:
        self.thoughts.append(delta)


def event(value: object) -> bytes:
    """Write one event of a stream."""
    data = value if isinstance(value, str) else json.dumps(value)
    return b"data: " + data.encode() + b"\n\n"


def delta(finish_reason: str | None = None, **fields: object) -> bytes:
    """Write the event of one chunk."""
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]})


DONE = event("[DONE]")

ADD_STOP = ToolSpec(
    "add_stop", "Add a stop.", {"type": "object", "properties": {"stop": {"type": "string"}}, "required": ["stop"]}
)


@pytest.fixture
def open_chat(wire_server) -> Callable[..., Chat]:
    """Open a conversation with the wire server."""

    def open_chat(*tools: ToolSpec, **fields: Any) -> Chat:
        return ModelClient(build_target(wire_server.base_url, **fields)).open(tools)

    return open_chat
