"""What the live view costs on the wire between kernel and front end, counted in a real kernel."""

import json
import queue
import time
from pathlib import Path

from .kernel import Kernel

_CELL = """\
%%steps
agents:
- name: writer
  source: {{ model: scripted/{words}.yml }}
jobs:
- name: stream
  plan:
  - agent: writer
    messages: ["Write."]
"""

_SCRIPT = """\
version: 1
replies:
- text: "{text}"
  delay_s: 0.001
"""


def streamed_bytes(kernel: Kernel, folder: Path, words: int) -> int:
    """Run a reply of so many deltas before a front end that proves that clicks arrive; count its messages' bytes."""
    text = " ".join(f"w{number % 100:02}" for number in range(words))
    (folder / f"{words}.yml").write_text(_SCRIPT.format(text=text))
    client, counted, is_idle, reply, give_up_at = kernel.client, 0, False, None, time.monotonic() + 60
    streamed = 0
    request = kernel.start(_CELL.format(words=words), allow_stdin=True)
    while not (is_idle and reply):
        assert time.monotonic() < give_up_at
        for channel in (client.iopub_channel, client.shell_channel):
            try:
                message = channel.get_msg(timeout=0.02)
            except queue.Empty:
                continue
            content = message["content"]
            if message["msg_type"] == "comm_msg":
                counted += len(json.dumps(message, default=str).encode())
                told = content["data"].get("content", {})
                if told.get("t") == "ping":
                    data = {"method": "custom", "content": {"t": "pong"}}
                    client.shell_channel.send(
                        client.session.msg("comm_msg", {"comm_id": content["comm_id"], "data": data})
                    )
                streamed += sum(len(p["value"]) for p in told.get("patches", ()) if p["op"] == "append")
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "execute_reply":
                reply = content
            elif message["msg_type"] == "status":
                is_idle = content["execution_state"] == "idle"
    assert reply["status"] == "ok"
    assert streamed > words  # the words came in pieces, not with the end
    return counted


def test_two_thousand_deltas_cost_150_kb_at_most_and_twice_as_many_twice_that(kernel: Kernel, tmp_path: Path) -> None:
    once = streamed_bytes(kernel, tmp_path, 2_000)
    twice = streamed_bytes(kernel, tmp_path, 4_000)

    assert once <= 150_000
    assert twice <= 2.1 * once
