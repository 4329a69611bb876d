"""Takes the answer of a login: the browser of the person who logs in is sent to an address of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from urllib.parse import parse_qs, urlsplit

from ..errors import InputError

_PATH = "/callback"
_LINE_BYTES = 16_384
_PAGE = "<!doctype html><meta charset='utf-8'><title>stepsnb</title><p>{}</p>"


class Callback:
    """Listens for one answer; those of another login, or of nobody, are turned away."""

    def __init__(self) -> None:
        self.state: str | None = None
        """What the answer has to bring along; nothing is taken until it is set."""
        self.port = 0
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    @property
    def address(self) -> str:
        """Where the browser is sent to."""
        return f"http://127.0.0.1:{self.port}{_PATH}"

    async def wait(self) -> dict[str, str]:
        """Return the answer's parameters."""
        return await self._answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a browser."""
        try:
            line = (await reader.readline()).decode("latin-1").split(" ")
            status, text = self._take(line[1]) if len(line) == 3 and line[0] == "GET" else (405, "Only GET is taken.")
            body = _PAGE.format(escape(text)).encode()
            head = f"HTTP/1.1 {status} X\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\nconnection: close"
            writer.write(head.encode() + b"\r\n\r\n" + body)
            await writer.drain()
        except (OSError, ValueError):  # a line without an end, or a browser that left
            pass
        finally:
            writer.close()

    def _take(self, target: str) -> tuple[int, str]:
        parts = urlsplit(target)
        if parts.path != _PATH:
            return 404, "There is nothing here."
        answer = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if self.state is None or answer.get("state") != self.state or self._answer.done():
            return 400, "This is not the answer to the login that is waited for."
        self._answer.set_result(answer)
        if "error" in answer:
            return 200, f"The login was refused: {answer.get('error_description') or answer['error']}"
        return 200, "You are logged in. This page can be closed."


@asynccontextmanager
async def listening(port: int | None) -> AsyncIterator[Callback]:
    """Listen on the loopback address, at a free port when none is given. Raises: InputError for one that is taken."""
    callback = Callback()
    try:
        server = await asyncio.start_server(callback.serve, "127.0.0.1", port or 0, limit=_LINE_BYTES)
    except OSError as exc:
        raise InputError(
            f"port {port} of this machine is taken; set another `callback_port:`, or leave it out"
        ) from exc
    async with server:
        callback.port = server.sockets[0].getsockname()[1]
        yield callback
