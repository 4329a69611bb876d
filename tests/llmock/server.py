"""The independent server `llmock` in a process of its own: it sets faults, and judges how a client took them."""

import json
import subprocess
import sys
import urllib.request
from typing import Any

_SERVE = """
import sys
from llmock.testing import LLMockServer
with LLMockServer() as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


class Llmock:
    """A running llmock; close it to end its process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        self.base_url = f"{self.url}/v1"

    def close(self) -> None:
        """End the process: its standard input ends."""
        self._process.communicate("", timeout=15)

    def reset(self) -> None:
        """Forget the faults that are left and the requests that were seen."""
        self._ask("POST", "reset")

    def plays(self, *behaviors: dict[str, Any]) -> None:
        """Queue faults and replies; the first of each kind that fits a request is spent on it."""
        self._ask("POST", "scenario", {"behaviors": list(behaviors)})

    def requests(self) -> list[dict[str, Any]]:
        """What was received, oldest first: `body`, `status`, `fault`, `chunks_sent` and more of each request."""
        return self._ask("GET", "requests")["requests"]

    def verdict(self) -> dict[str, Any]:
        """What llmock thinks of the client: `passed`, and `findings` with a `code` each."""
        return self._ask("GET", "verdict")

    def findings(self) -> list[str]:
        """The codes of what the client did wrong, warnings included."""
        return [finding["code"] for finding in self.verdict()["findings"]]

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_llmock/{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)


def says(text: str, **fields: Any) -> dict[str, Any]:
    """A reply of the model in text."""
    return {"type": "reply", "text": text, **fields}


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply of the model that calls one tool."""
    return {"type": "reply", "tool_calls": [{"name": name, "arguments": arguments}]}


def fails(status: int, **fields: Any) -> dict[str, Any]:
    """An error status in place of a reply."""
    return {"type": "fail", "status": status, **fields}


def breaks_stream(kind: str, after_chunks: int, **fields: Any) -> dict[str, Any]:
    """A fault in the next stream, in place of its chunk number `after_chunks`; the first, 0, holds no output."""
    return {"type": "stream_fault", "kind": kind, "after_chunks": after_chunks, **fields}
