"""One model server a process and local model: started on first use, shared by every run, gone with the process."""

import asyncio
import atexit
import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO

import msgspec

from ...errors import ProviderError
from ...settings import KILL_GRACE_S, LOCAL_READY_S
from .catalog import LocalModel, local_model
from .weights import Note, fetch_weights

SLOTS = 1
"""Requests answered at once: two would share the same processors, and the window."""

_ERROR_LINES = 3
_MAX_THREADS = 4
"""More make a small model slower. One processor is left to the others: threads of llama.cpp wait for each other
busily, so that a single one that is held up slows it down several times."""


class ServerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a running local model answers: an OpenAI-compatible base URL (`…/v1`), its name there, its window.

    `slots` is how many requests it answers at once; others wait in the server.
    """

    base_url: str
    model: str
    context_window: int
    slots: int = SLOTS


class _Child:
    """A server process, and the pipe whose end tells it to go."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        self.process = process
        self.pid = os.getpid()
        self._log = log

    @property
    def is_running(self) -> bool:
        # A fork of this process shares the dictionary, not the child.
        return self.pid == os.getpid() and self.process.poll() is None

    def stop(self) -> None:
        if self.pid != os.getpid():
            return
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(KILL_GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self._log.close()

    def last_words(self) -> str:
        """Return the last lines of what the server said on standard error."""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        return "; ".join(line.strip() for line in lines[-_ERROR_LINES:] if line.strip())


_servers: dict[str, tuple[_Child, ServerInfo]] = {}
_servers_guard = threading.Lock()
_start_locks: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]" = weakref.WeakKeyDictionary()


async def server_for(name: str, on_note: Note | None = None) -> ServerInfo:
    """Return the running server of the local model `name`, fetching its weights and starting it as needed.

    A server that died is started anew. `on_note` gets a line for each thing that takes time.
    Raises: `InputError` for an unknown name, `ProviderError` when it cannot be fetched or started.
    """
    model = local_model(name)
    async with _start_locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        with _servers_guard:
            known = _servers.get(name)
        if known is not None:
            if known[0].is_running:
                return known[1]
            _forget(name)
        backend = _backend(model)
        path = await fetch_weights(model, on_note)
        if on_note is not None:
            on_note(f"starting `local/{name}`")
        child, port = await _start(model, path, backend)
        info = ServerInfo(base_url=f"http://127.0.0.1:{port}/v1", model=name, context_window=model.context_window)
        with _servers_guard:
            _servers[name] = (child, info)
        return info


def stop_servers(name: str | None = None) -> None:
    """Stop the server of the local model `name`, or every one; the next use starts it again."""
    with _servers_guard:
        names = list(_servers) if name is None else [name]
    for each in names:
        _forget(each)


atexit.register(stop_servers)


def _forget(name: str) -> None:
    with _servers_guard:
        known = _servers.pop(name, None)
    if known is not None:
        known[0].stop()


def _backend(model: LocalModel) -> list[str]:
    """Return the arguments that choose what serves the model: the package, else the user's own program."""
    if importlib.util.find_spec("xllamacpp") is not None:
        return []
    if (program := shutil.which("llama-server")) is not None:
        return ["--llama-server", program]
    raise ProviderError(
        f"`local/{model.name}` needs the package xllamacpp or a `llama-server` program on PATH, and there is neither; "
        'run `pip install "stepsnb[local]"`'
    )


async def _start(model: LocalModel, path: Path, backend: list[str]) -> tuple[_Child, int]:
    script = Path(__file__).with_name("serve.py")
    threads = max(1, min(_MAX_THREADS, (os.cpu_count() or 2) - 1))
    argv = [sys.executable, "-P", str(script), "--model", str(path), "--alias", model.name, "--port", "0"]
    argv += ["--context", str(model.context_window), "--threads", str(threads), *backend]
    argv += ["--slots", str(SLOTS)]
    argv += ["--temperature", str(model.temperature), "--top-p", str(model.top_p)]
    argv += ["--repeat-penalty", str(model.repeat_penalty)]
    log = tempfile.TemporaryFile()  # noqa: SIM115 - the child's owner closes it
    # A session of its own: Ctrl-C in a terminal reaches every process of the foreground group, and this one stays.
    process = subprocess.Popen(  # noqa: ASYNC220 - it outlives the loop it was started on
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
    )
    child = _Child(process, log)
    assert process.stdout is not None
    ready = asyncio.ensure_future(asyncio.to_thread(process.stdout.readline))
    try:
        async with asyncio.timeout(LOCAL_READY_S):
            line = await asyncio.shield(ready)
        return child, int(json.loads(line)["port"])
    except TimeoutError:
        cause = f"it was not ready after {LOCAL_READY_S:.0f} s"
        await _discard(child, ready)
    except (ValueError, KeyError, TypeError):
        await asyncio.to_thread(process.wait, KILL_GRACE_S)
        cause = f"it ended with {process.returncode}: {child.last_words()}"
        await _discard(child, ready)
    except asyncio.CancelledError:
        await asyncio.shield(_discard(child, ready))
        raise
    raise ProviderError(
        f"the server of `local/{model.name}` did not start: {cause}; "
        "start a `llama-server` yourself and use it as `llama-server/NAME`, or choose another model"
    )


async def _discard(child: _Child, ready: "asyncio.Future[bytes]") -> None:
    child.process.kill()
    await asyncio.gather(ready, return_exceptions=True)  # the pipe ends with the child
    child.stop()
