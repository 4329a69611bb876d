"""A real kernel, driven as a front end without widgets drives one."""

import os
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

_OUTPUTS = ("stream", "display_data", "update_display_data", "execute_result", "error", "clear_output")


@dataclass
class Executed:
    """What came back for one cell."""

    reply: dict[str, Any] = field(default_factory=dict)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    duration_s: float = 0.0

    @property
    def kinds(self) -> list[str]:
        """Message types of the outputs, in order."""
        return [output["msg_type"] for output in self.outputs]

    @property
    def printed(self) -> str:
        """Everything written to a stream."""
        return "".join(o["content"]["text"] for o in self.outputs if o["msg_type"] == "stream")

    @property
    def displays(self) -> list[dict[str, Any]]:
        """Data of every display, updates and results included."""
        return [o["content"]["data"] for o in self.outputs if "data" in o["content"]]

    @property
    def result(self) -> str:
        """Plain text of the cell's value."""
        [text] = [o["content"]["data"]["text/plain"] for o in self.outputs if o["msg_type"] == "execute_result"]
        return text

    @property
    def error(self) -> tuple[str, str] | None:
        """Name and message of the error, None when the cell succeeded."""
        if self.reply["status"] == "ok":
            return None
        return self.reply["ename"], self.reply["evalue"]

    @property
    def traceback(self) -> list[str]:
        """The lines shown of the error."""
        [lines] = [o["content"]["traceback"] for o in self.outputs if o["msg_type"] == "error"]
        return lines


class Kernel:
    """A kernel and one client of it."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client

    @property
    def pid(self) -> int:
        """The kernel's process."""
        return self.manager.provisioner.pid

    def start(self, code: str, *, allow_stdin: bool = False) -> str:
        """Send a cell; `finish` collects what comes of it."""
        return self.client.execute(code, allow_stdin=allow_stdin)

    def finish(
        self, request: str, *, answer: Callable[[str], str | None] | None = None, timeout_s: float = 30.0
    ) -> Executed:
        """Wait for a cell's end; `answer` is called with each `input()` prompt (None leaves it unanswered)."""
        executed, began, is_idle = Executed(), time.monotonic(), False
        while not (is_idle and executed.reply):
            if time.monotonic() - began > timeout_s:
                raise TimeoutError(f"no end within {timeout_s:g} s; outputs so far: {executed.outputs}")
            for channel in (self.client.iopub_channel, self.client.shell_channel, self.client.stdin_channel):
                try:
                    message = channel.get_msg(timeout=0.02)
                except queue.Empty:
                    continue
                if message["parent_header"].get("msg_id") != request:
                    continue
                match message["msg_type"]:
                    case "execute_reply":
                        executed.reply = message["content"]
                    case "status":
                        is_idle = message["content"]["execution_state"] == "idle"
                    case "input_request" if answer is not None:
                        if (text := answer(message["content"]["prompt"])) is not None:
                            self.client.input(text)
                    case (
                        "stream" | "display_data" | "update_display_data" | "execute_result" | "error" | "clear_output"
                    ):
                        executed.outputs.append({"msg_type": message["msg_type"], "content": message["content"]})
        executed.duration_s = time.monotonic() - began
        return executed

    def run(self, code: str, **options: Any) -> Executed:
        """Run a cell headless to its end."""
        return self.finish(self.start(code), **options)

    def value(self, expression: str) -> str:
        """`repr` of an expression, seen between two cells."""
        return self.run(expression).result


@contextmanager
def running_kernel(folder: Path, **environment: str) -> Iterator[Kernel]:
    """Start a kernel in `folder`, and end it."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder), env={**os.environ, "IPYTHONDIR": str(folder / ".ipython"), **environment})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=30)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        if manager.is_alive():
            manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
