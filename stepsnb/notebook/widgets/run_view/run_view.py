"""The kernel's half of the live view: it sends a fold's state and changes, and hands on what a person does."""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget

from ....view import Fold
from ..assets import style_of
from ..routing import let_front_end_route


class RunView(anywidget.AnyWidget):
    """Live view of one run.

    Sends `ping`; `state`, the whole of it, whenever a view asks with `view`; and `patch`, a batch of changes. Both
    carry `n`, the number of batches so far: a view applies batch n to state n - 1 and asks again when it missed one.
    Answers `hello` with `hello`, by which a view that heard nothing for long learns whether its kernel lives.

    Messages come on whatever thread the kernel handles them on, and so do the callbacks, which therefore only hand
    a value on: `on_ready()` for each proof that the front end can talk back, `on_stop()`, and
    `on_answer(question_id, text)`.
    """

    _esm = Path(__file__).with_name("run_view.js")
    _css = style_of(__file__, "run_view.css")

    def __init__(
        self,
        fold: Fold,
        *,
        on_stop: Callable[[], None],
        on_answer: Callable[[str, str], None],
        on_ready: Callable[[], None],
    ) -> None:
        super().__init__()
        self._fold = fold
        self._on_stop = on_stop
        self._on_answer = on_answer
        self._on_ready = on_ready
        self._sending = threading.Lock()
        self._batches = 0
        let_front_end_route(self.comm)
        self.on_msg(self._receive)

    def ping(self) -> None:
        """Ask the front end to prove that it can talk back."""
        self.send({"t": "ping"})

    def flush(self) -> None:
        """Send what changed since the last time, if anything did."""
        with self._sending:
            self._send_patches(self._fold.take_patches())

    def show(self) -> None:
        """Send the whole state, for a view that is new or missed something; the others pass over it."""
        with self._sending:
            patches, state = self._fold.take_snapshot()
            self._send_patches(patches)
            # `now` tells the front end how its clock differs from the one the state's times are of.
            self.send({"t": "state", "n": self._batches, "now": time.time(), "state": state})

    def _send_patches(self, patches: list[dict[str, Any]]) -> None:
        if patches:
            self._batches += 1
            self.send({"t": "patch", "n": self._batches, "patches": patches})

    def _receive(self, _widget: object, message: object, _buffers: object) -> None:
        if not isinstance(message, Mapping):
            return
        match dict(message):
            case {"t": "ready" | "pong"}:
                self._on_ready()
            case {"t": "hello"}:
                self.send({"t": "hello"})
            case {"t": "view"}:
                self.show()
            case {"t": "stop"}:
                self._on_stop()
            case {"t": "answer", "id": str(question_id), "value": str(text)}:
                self._on_answer(question_id, self._fold.original_answer(question_id, text))
