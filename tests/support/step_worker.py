"""Steps in a second process: an executor that starts one for each spec, and the process, which speaks over its pipes.

A frame is a length in four bytes and that much JSON.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from stepsnb.events import AnyEvent, Event
from stepsnb.run.elsewhere import Ports, Ran, StepSpec, WorkerLost, decode_ran, decode_spec, encode_ran, encode_spec
from stepsnb.tools import AskReply, AskRequest

ROOT = Path(__file__).parents[2]


async def read_frame(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    try:
        size = int.from_bytes(await reader.readexactly(4), "big")
        frame: dict[str, Any] = json.loads(await reader.readexactly(size))
    except asyncio.IncompleteReadError:
        return None
    return frame


def frame_of(**value: Any) -> bytes:
    data = json.dumps(value).encode()
    return len(data).to_bytes(4, "big") + data


class ProcessExecutor:
    """Runs each spec in a process of its own; `pids` are those it started."""

    def __init__(self, store_root: Path) -> None:
        self.store_root = store_root
        self.pids: list[int] = []
        self.specs: list[StepSpec] = []

    async def spawn(self, spec: StepSpec, ports: Ports) -> Ran:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.support.step_worker",
            str(self.store_root),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
            start_new_session=True,
            limit=2**24,
        )
        self.pids.append(process.pid)
        self.specs.append(spec)
        assert process.stdin is not None
        process.stdin.write(frame_of(spec=encode_spec(spec).decode()))
        served = asyncio.create_task(self._serve(process, ports))
        try:
            while True:
                try:
                    return await asyncio.shield(served)
                except asyncio.CancelledError:
                    if served.done():
                        raise
                    current = asyncio.current_task()
                    while current is not None and current.cancelling():
                        current.uncancel()
                    process.stdin.write(frame_of(stop=True))
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def _serve(self, process: asyncio.subprocess.Process, ports: Ports) -> Ran:
        assert process.stdin is not None
        assert process.stdout is not None
        asked: set[asyncio.Task[None]] = set()
        while (frame := await read_frame(process.stdout)) is not None:
            match frame:
                case {"event": event}:
                    ports.emit(msgspec.convert(event, AnyEvent))
                case {"settle": number}:
                    await ports.settle()
                    process.stdin.write(frame_of(reply=number, value=None))
                case {"ask": number, "request": request, "step_id": step_id, "agent": agent}:
                    asking = ports.ask(msgspec.convert(request, AskRequest), step_id=step_id, agent=agent)
                    asked.add(asyncio.create_task(self._answer(process.stdin, number, asking)))
                case {"ran": ran}:
                    return decode_ran(ran.encode())
                case {"error": text}:
                    raise WorkerLost(text)
        code = await process.wait()
        raise WorkerLost(f"the process {process.pid} that ran it ended with {code}")

    async def _answer(self, writer: asyncio.StreamWriter, number: int, asking: Any) -> None:
        reply = await asking
        writer.write(frame_of(reply=number, value=msgspec.to_builtins(reply)))


class PipePorts:
    """The ports in the worker: frames out, replies in."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    def emit(self, event: Event) -> None:
        self._writer.write(frame_of(event=msgspec.to_builtins(event)))

    async def settle(self) -> None:
        await self._call("settle")

    async def ask(self, request: AskRequest, *, step_id: str, agent: str) -> AskReply:
        value = await self._call("ask", request=msgspec.to_builtins(request), step_id=step_id, agent=agent)
        return msgspec.convert(value, AskReply)

    async def _call(self, name: str, **values: Any) -> Any:
        number = len(self._waiting)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._writer.write(frame_of(**{name: number}, **values))
        return await self._waiting[number]

    def reply(self, number: int, value: Any) -> None:
        if not self._waiting[number].done():
            self._waiting[number].set_result(value)


async def work(store_root: Path, out_fd: int) -> None:
    from stepsnb.run.elsewhere.worker import run_spec

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(0, "rb"))
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(out_fd, "wb"))
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    ports = PipePorts(writer)
    first = await read_frame(reader)
    assert first is not None
    task = asyncio.create_task(run_spec(decode_spec(first["spec"].encode()), ports, store_root))
    listening = asyncio.create_task(_listen(reader, ports, task))
    try:
        writer.write(frame_of(ran=encode_ran(await task).decode()))
    except Exception as exc:  # noqa: BLE001 - whatever it was, the run is told
        writer.write(frame_of(error=f"{type(exc).__name__}: {exc}"))
    listening.cancel()
    await writer.drain()
    writer.close()


async def _listen(reader: asyncio.StreamReader, ports: PipePorts, task: "asyncio.Task[Ran]") -> None:
    while (frame := await read_frame(reader)) is not None:
        if "stop" in frame:
            task.cancel()
        else:
            ports.reply(frame["reply"], frame["value"])
    task.cancel()  # nobody is there any more


if __name__ == "__main__":
    kept = os.dup(1)
    os.dup2(2, 1)  # what the step prints by mistake is not taken for a frame
    asyncio.run(work(Path(sys.argv[1]), kept))
