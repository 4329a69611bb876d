"""Talks to a server that is a child process: one JSON message a line on its standard streams.

The SDK's own transport is not used: it reads lines of any length, leaves children of a server that ended by itself,
and writes errors where a notebook cannot show them.
"""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..processes import end_group, has_exited_within, killed_with_us
from ..settings import MCP_EXIT_GRACE_S, MCP_MESSAGE_BYTES, MCP_STDERR_BYTES
from .heard import Heard

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_JUNK_CHARACTERS = 200


class _Tail(asyncio.Protocol):
    """Keeps the last bytes of stderr."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._heard.stderr += data
        del self._heard.stderr[:-MCP_STDERR_BYTES]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


@asynccontextmanager
async def stdio_transport(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], heard: Heard
) -> AsyncIterator["TransportStreams"]:
    """Start a program and give the streams of its messages; at the end nothing of its process group is left.

    Raises: OSError and ValueError for a program that cannot be started.
    """
    from anyio import create_memory_object_stream

    process = subprocess.Popen(  # noqa: ASYNC220 - as quick as asyncio's own, which starts it just so
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    loop = asyncio.get_running_loop()
    with killed_with_us(process):
        reader = asyncio.StreamReader(limit=MCP_MESSAGE_BYTES)
        out, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        err, tail = await loop.connect_read_pipe(lambda: _Tail(heard), process.stderr)
        pipe, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
        writer = asyncio.StreamWriter(pipe, flow, None, loop)
        incoming, received = create_memory_object_stream[Any](0)
        outgoing, sent = create_memory_object_stream[Any](0)
        tasks = [
            asyncio.create_task(_read(reader, incoming, heard)),
            asyncio.create_task(_write(writer, sent, incoming)),
        ]
        try:
            yield received, outgoing
        finally:
            (pipe.abort if pipe.get_write_buffer_size() else pipe.close)()  # what it does not read would keep it open
            await has_exited_within(process, MCP_EXIT_GRACE_S)
            await end_group(process)
            heard.exit_code = process.returncode
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            out.close()
            err.close()
            await tail.ended.wait()
            for stream in (incoming, received, outgoing, sent):
                stream.close()


async def _read(reader: asyncio.StreamReader, incoming: Any, heard: Heard) -> None:
    """Pass on each message; a line that is none is kept to be shown, and the rest goes on."""
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    with suppress(BrokenResourceError, ClosedResourceError):
        async with incoming:
            while True:
                try:
                    line = await reader.readline()
                except ValueError:
                    heard.problem = f"it sent a message of more than {MCP_MESSAGE_BYTES:,} bytes; ask it for less"
                    return
                if not line:
                    heard.problem = heard.problem or "its program ended, or closed its output"
                    return
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    if heard.junk is None and line.strip():
                        heard.junk = line.decode("utf-8", "replace").strip()[:_JUNK_CHARACTERS]
                    continue
                await incoming.send(SessionMessage(message))


async def _write(writer: asyncio.StreamWriter, sent: Any, incoming: Any) -> None:
    """Send each message; when the program reads no more, the other direction ends too, so that nobody waits."""
    try:
        async with sent:
            async for message in sent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(text.encode() + b"\n")
                await writer.drain()
    except OSError:
        await incoming.aclose()
