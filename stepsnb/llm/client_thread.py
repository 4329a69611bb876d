"""A blocking request in a thread of its own, whose response is read on the loop while it arrives."""

import asyncio
import contextlib
import contextvars
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager

from .client_errors import Lost
from .response import Response


class _Call:
    """One request in its thread; what it gives goes into `arrivals`: the response, its chunks, then how it ended."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Response[Iterator[bytes]]]]) -> None:
        self.arrivals: asyncio.Queue[Response[Iterator[bytes]] | bytes | Lost | None] = asyncio.Queue()
        self._opened = opened
        self._loop = asyncio.get_running_loop()
        self._is_given_up = threading.Event()
        self._response: Response[Iterator[bytes]] | None = None
        context = contextvars.copy_context()  # what traces the user's program finds its parent there
        # A thread of its own: one of a shared pool would keep the process from ending while a server is silent.
        threading.Thread(target=context.run, args=(self._run,), name="stepsnb-client", daemon=True).start()

    def _run(self) -> None:
        end: Lost | None = None
        try:
            with self._opened() as response:
                self._response = response
                self._put(response)
                for chunk in response.chunks:
                    if self._is_given_up.is_set():
                        return
                    self._put(chunk)
        except BaseException as exc:  # noqa: BLE001 - whatever it is, it belongs to the caller that waits
            end = Lost(exc)
        self._put(end)

    def _put(self, arrival: Response[Iterator[bytes]] | bytes | Lost | None) -> None:
        if not self._is_given_up.is_set():
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self.arrivals.put_nowait, arrival)

    def give_up(self) -> None:
        """Let the thread end soon: its socket is shut, which a blocked read notices as the end of the stream."""
        self._is_given_up.set()
        stream = getattr(getattr(self._response, "http_response", None), "extensions", {}).get("network_stream")
        connected = stream.get_extra_info("socket") if stream is not None else None
        if isinstance(connected, socket.socket):
            with contextlib.suppress(OSError):
                # Not the method of a TLS socket, which would take the decoder away from the reading thread.
                socket.socket.shutdown(connected, socket.SHUT_RDWR)


@asynccontextmanager
async def in_thread(
    opened: Callable[[], AbstractContextManager[Response[Iterator[bytes]]]],
) -> AsyncGenerator[Response[AsyncGenerator[bytes, None]], None]:
    """Open a response in a thread and give it as one whose chunks are awaited.

    When the caller is cancelled its wait ends at once, the response is closed, and nothing of it is heard any more;
    while a server has not begun to answer, the thread waits for it as long as the client itself would.
    Raises: `Lost` for whatever the thread raised.
    """
    call = _Call(opened)
    is_over = False

    async def chunks() -> AsyncGenerator[bytes, None]:
        nonlocal is_over
        while isinstance(arrival := await call.arrivals.get(), bytes):
            yield arrival
        is_over = True
        if isinstance(arrival, Lost):
            raise arrival

    try:
        begin = await call.arrivals.get()
        if isinstance(begin, Lost):
            is_over = True
            raise begin
        assert isinstance(begin, Response)
        yield Response(begin.status, begin.content_type, chunks())
    finally:
        if not is_over:
            call.give_up()
