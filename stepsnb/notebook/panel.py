"""What a cell shows below its value to act with: shown once the front end has proved that clicks arrive."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..engine import engine
from ..errors import StepsError
from .display import CellOutput
from .live import handshake

if TYPE_CHECKING:
    from .widgets.panel import Panel

Action = Callable[[Mapping[str, Any]], None]


class PanelHost:
    """A panel in the output of the cell that made it; what a person does in it is done on threads of its own.

    `act` takes what a person did. What it raises for them to read is said in the panel.
    """

    def __init__(self, act: Action, state: Mapping[str, Any]) -> None:
        self.act = act
        self.output = CellOutput()
        self._state = dict(state)
        self._said = ("", False)
        self._sending = threading.Lock()
        self._panel: Panel | None = None

    def open(self) -> None:
        """Offer it to the front end, on the cell's thread."""
        from .widgets.panel import Panel

        proved = asyncio.Event()
        self._panel = panel = Panel(
            self._state,
            on_ready=lambda: engine().call(proved.set),
            on_action=lambda done: engine().call(self._do, done),
        )
        engine().start(self._offer(panel, proved))

    def show(self, state: Mapping[str, Any]) -> None:
        """Show another state, from any thread; nothing is sent where it is the one that is shown."""
        with self._sending:
            if state != self._state:
                self._state = dict(state)
                self._send()

    def say(self, message: str, *, is_error: bool = False) -> None:
        """Say something below the controls, from any thread, until the next is said; an empty text is nothing."""
        with self._sending:
            self._said = (message, is_error)
            self._send()

    def _send(self) -> None:
        if self._panel is not None:
            message, is_error = self._said
            self.output.run(self._panel.show, {**self._state, "message": message, "is_error": is_error})

    async def _offer(self, panel: "Panel", proved: asyncio.Event) -> None:
        if not await handshake(lambda: self.output.run(panel.ping), proved):
            return
        described = self.output.run(panel._repr_mimebundle_)
        bundle = dict((described[0] if isinstance(described, tuple) else described) or {})
        bundle["text/plain"] = "controls, which work while their kernel runs"
        self.output.show(bundle)

    def _do(self, message: Mapping[str, Any]) -> None:
        threading.Thread(target=self.output.run, args=(self._act, message), name="stepsnb-panel", daemon=True).start()

    def _act(self, message: Mapping[str, Any]) -> None:
        self.say("")
        try:
            self.act(message)
        except StepsError as exc:
            from ..visible import visible

            self.say(visible(str(exc)), is_error=True)
