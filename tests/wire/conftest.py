"""Whole runs and single replies against a server that writes exact bytes."""

import json

import pytest

import stepsnb
from tests.llm.conftest import DONE, delta, event, open_chat

__all__ = ["open_chat"]

USAGE = event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})

PIPELINE = """
agents:
- name: clerk
  source: {model: m1, endpoint: ((endpoint))}
  context_window: 100000
  tools: ((tools))
jobs:
- name: file_it
  plan:
  - agent: clerk
    prompt: Go.
"""


def call_piece(name: str, arguments: object, *, id: str = "c1", index: int = 0) -> dict[str, object]:
    """Build the piece of a stream that is one whole call."""
    return {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*pieces: dict[str, object], finish_reason: str = "tool_calls") -> list[bytes]:
    """Write the stream of a reply that makes calls."""
    return [delta(tool_calls=list(pieces)), delta(finish_reason), USAGE, DONE]


def words(*texts: str, finish_reason: str | None = "stop") -> list[bytes]:
    """Write the stream of a reply in words."""
    return [*(delta(content=text) for text in texts), delta(finish_reason), USAGE, DONE]


def history_calls(request) -> list[tuple[str, object]]:
    """Return the calls in the history of a request; their arguments have to be valid JSON."""
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for message in request.json()["messages"]
        for call in message.get("tool_calls", ())
    ]


@pytest.fixture
def run(wire_server, tmp_path):
    """Run an agent whose tools are the functions given, through the public API."""

    def run(**functions):
        tools = json.dumps([{"python": name} for name in functions])
        text = PIPELINE.replace("((tools))", tools).replace("((endpoint))", wire_server.base_url)
        return stepsnb.load(text).run(store=tmp_path / "store", functions=functions)

    return run


@pytest.fixture
def recorded(tmp_path):
    """Return the rows of `tool_calls`."""
    return lambda: stepsnb.tool_calls(store=tmp_path / "store").to_dict("records")
