"""The kernel's half of a panel: it sends what the panel shows, and hands on what a person does."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget

from ..assets import style_of
from ..routing import let_front_end_route

State = Mapping[str, Any]


class Panel(anywidget.AnyWidget):
    """Buttons and inputs; `state["kind"]` says which: `pipeline`, `picker` or `inbox`.

    Sends `ping`, and `state`, the whole of it, whenever it changes or a view asks with `view`.

    Messages come on whatever thread the kernel handles them on, and so do the callbacks, which therefore only hand
    them on: `on_ready()` for each proof that the front end can talk back, `on_action(message)` for the rest.
    """

    _esm = Path(__file__).with_name("panel.js")
    _css = style_of(__file__, "panel.css")

    def __init__(
        self, state: State, *, on_ready: Callable[[], None], on_action: Callable[[dict[str, Any]], None]
    ) -> None:
        super().__init__()
        self._state = state
        self._on_ready = on_ready
        self._on_action = on_action
        let_front_end_route(self.comm)
        self.on_msg(self._receive)

    def ping(self) -> None:
        """Ask the front end to prove that it can talk back."""
        self.send({"t": "ping"})

    def show(self, state: State) -> None:
        """Show another state."""
        self._state = state
        self.send({"t": "state", "state": state})

    def _receive(self, _widget: object, message: object, _buffers: object) -> None:
        if not isinstance(message, Mapping):
            return
        match dict(message):
            case {"t": "ready" | "pong"}:
                self._on_ready()
            case {"t": "view"}:
                self.show(self._state)
            case {"t": str()} as action:
                self._on_action(action)
