"""The client of one model: gets it ready, opens conversations with it, knows its window."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ..errors import InputError
from .chat import Chat, Mode
from .json_mode import JsonMode
from .native_mode import NativeMode
from .request import ToolSpec
from .target import Target

if TYPE_CHECKING:
    from .cassette import Cassette
    from .connection import Link
    from .windows import Window

Note = Callable[[str], None]
"""Takes one line about something that takes time."""


class ModelClient:
    """One model at one address.

    Conversations share connections with every other client of the same address on the same event loop; they are
    kept warm when a client closes, and end with the loop. `client` is the user's own, when the target names one.
    """

    def __init__(self, target: Target, client: object | None = None, cassette: "Cassette | None" = None) -> None:
        if target.client is not None and client is None:
            raise InputError(f"client `{target.client}` was not handed in; set the variable before the run")
        if cassette is not None and target.client is not None:
            text = f"client `{target.client}` sends by itself, so nothing of it can be recorded or replayed"
            raise InputError(f"{text}; name the model and its `endpoint:` instead")
        self.target = target
        self._cassette = cassette
        self.slots: int | None = None
        """How many requests the model answers at once; None when it sets no limit. Known once it is prepared."""
        if client is not None:
            address = getattr(client, "base_url", None)
            self.target = msgspec.structs.replace(target, base_url="" if address is None else str(address))
        self._client = client
        self._link: Link | None = None
        self._window: Window | None = None
        self._preparing = asyncio.Lock()

    async def prepare(self, on_note: Note | None = None) -> None:
        """Get the model ready for requests; calling it again costs nothing.

        A model of `local/` is fetched and its server started, which `on_note` hears about. A script is read.
        Raises: `InputError` for a script or local model that is not there, `ProviderError` when it cannot start.
        """
        await self._connect(on_note)

    async def _connect(self, on_note: Note | None = None) -> "Link":
        async with self._preparing:
            if self._link is None:
                if self._client is not None:
                    from .client_link import link_client

                    self._link = await link_client(self.target, self._client)
                    return self._link
                is_replay = self._cassette is not None and self._cassette.is_replay
                if self.target.provider == "local" and not is_replay:
                    from .local import server_for

                    server = await server_for(self.target.model, on_note)
                    self.target = msgspec.structs.replace(
                        self.target,
                        base_url=server.base_url,
                        model=server.model,
                        context_window=self.target.context_window or server.context_window,
                    )
                    self.slots = server.slots
                from .connection import HttpLink
                from .transports import build_transport

                self._link = HttpLink(self.target, await build_transport(self.target, self._cassette))
            return self._link

    def open(self, tools: Sequence[ToolSpec]) -> Chat:
        """Begin a conversation in which these tools are granted."""
        mode: Mode = (JsonMode if self.target.tool_mode == "json" else NativeMode)(self.target, tools)
        return Chat(self._connect, mode)

    async def window(self) -> "Window":
        """Return the model's context window, and whose word that is; asked for once."""
        if self._window is None:
            await self._connect()
            from .windows import Window, locate_window

            cassette = self._cassette
            if cassette is not None and cassette.is_replay and self.target.context_window is None:
                known = cassette.window(self.target.label)
                self._window = Window(known, "assumed" if known is None else "server")
            else:
                self._window = await locate_window(self.target)
                if cassette is not None:
                    cassette.note_window(self.target.label, self._window.tokens)
        return self._window

    async def context_window(self) -> int | None:
        """Return how many tokens the model's context holds, None when nobody says."""
        return (await self.window()).tokens

    async def close(self) -> None:
        """Let go of the model; its conversations end with it."""
        self._link = None
