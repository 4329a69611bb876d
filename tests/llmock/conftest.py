"""A run of one agent step whose model is llmock."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import stepsnb

from .server import Llmock

PIPELINE = """
agents:
- name: guide
  source: {model: gpt-5, endpoint: ((endpoint)), api_key_env: LLMOCK_KEY, tool_mode: native, stream: ((stream))}
  preflight: false
  retry: {llm: {backoff_base_secs: ((backoff))}}
  tools: [{python: look_up}]
jobs:
- name: tides
  plan:
  - agent: guide
    prompt: Say when the tide is high in Fowey.
"""


@pytest.fixture(scope="session")
def llmock_process() -> Iterator[Llmock]:
    server = Llmock()
    yield server
    server.close()


@pytest.fixture
def llmock(llmock_process: Llmock) -> Llmock:
    """The server with nothing queued and nothing seen."""
    llmock_process.reset()
    return llmock_process


class Tides:
    """The one tool, and the places it was asked about; `before_result` is called before each result."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.before_result: Callable[[], None] = lambda: None

    def look_up(self, place: str) -> str:
        """Look up when the tide is high.

        Args:
            place: Name of the harbour.
        """
        self.places.append(place)
        self.before_result()
        return f"high tide in {place} at 05:12"


@pytest.fixture
def tides() -> Tides:
    return Tides()


@pytest.fixture
def run(llmock: Llmock, tides: Tides, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run the step to its end; `retry` is YAML in place of its retry settings."""
    monkeypatch.setenv("LLMOCK_KEY", "sk-llmock-0123456789")

    def run(*, stream: bool = True, backoff: float = 0.1, retry: str | None = None) -> Any:
        text = PIPELINE if retry is None else PIPELINE.replace("{llm: {backoff_base_secs: ((backoff))}}", retry)
        values = {"endpoint": llmock.base_url, "stream": stream}
        if retry is None:
            values["backoff"] = backoff
        return stepsnb.load(text, vars=values, functions={"look_up": tides.look_up}).run(memory=True)

    return run
