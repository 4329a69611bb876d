import asyncio
import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stepsnb.errors import StoreError
from stepsnb.store import open_spool, segments
from stepsnb.store.segments import Found, is_live, read_tail


def recorded(root: Path) -> list[bytes]:
    """Every payload in the store's spools, in order of file name."""
    return [payload for path in sorted((root / "spool").glob("*.jsonl")) for payload in payloads_in(path)]


def payloads_in(segment: Path) -> list[bytes]:
    found = list(read_tail(segment, 0, None, live=is_live(segment)))
    assert all(isinstance(item, Found) for item in found), found
    return [item.record.payload for item in found if isinstance(item, Found)]


def segment_of(root: Path) -> Path:
    (path,) = (root / "spool").glob("*.jsonl")
    return path


@pytest.fixture
def flushes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how often this process waits for the disk."""
    calls: list[int] = []
    flush = segments.flush_to_disk
    monkeypatch.setattr(segments, "flush_to_disk", lambda fd: (calls.append(fd), flush(fd)))
    return calls


def fail_with(number: int) -> Callable[..., int]:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    return fail


def in_turn(*functions: Callable[..., int]) -> Callable[..., int]:
    """Each call goes to the next of `functions`."""
    left = list(functions)

    def call_next(*args: object) -> int:
        return left.pop(0)(*args)

    return call_next


def test_what_is_appended_is_in_the_file_at_once(root: Path) -> None:
    spool = open_spool(root)

    spool.append(b'{"n":0}')
    spool.append(b'{"n":1}')

    assert recorded(root) == [b'{"n":0}', b'{"n":1}']


def test_a_process_has_one_spool_a_store(root: Path) -> None:
    assert open_spool(root) is open_spool(root / ".." / ".steps")
    assert open_spool(root).writer.startswith(f"{os.getpid()}-")


def test_a_new_store_is_its_owners_alone_and_ignored_by_git(root: Path) -> None:
    open_spool(root)

    assert (root / ".gitignore").read_text() == "*\n"
    assert [path.stat().st_mode & 0o777 for path in (root, root / "spool", segment_of(root))] == [0o700, 0o700, 0o600]


def test_a_gitignore_that_is_there_stays(root: Path) -> None:
    root.mkdir()
    (root / ".gitignore").write_text("spool\n")

    open_spool(root)

    assert (root / ".gitignore").read_text() == "spool\n"


def test_a_store_that_cannot_be_created_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match=r"^cannot create store `.*file/\.steps`: Not a directory; name another"):
        open_spool(tmp_path / "file" / ".steps")


def test_a_payload_of_two_lines_is_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="one line of JSON"):
        open_spool(root).append(b"{}\n{}")


def test_threads_append_without_mixing_their_lines(root: Path) -> None:
    spool = open_spool(root)

    def append_many(name: int) -> None:
        for n in range(200):
            spool.append(b"%d/%d" % (name, n))

    threads = [threading.Thread(target=append_many, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(recorded(root)) == sorted(b"%d/%d" % (name, n) for name in range(4) for n in range(200))


def test_append_with_sync_flushes_and_without_does_not(root: Path, flushes: list[int]) -> None:
    spool = open_spool(root)

    spool.append(b"{}")
    assert len(flushes) == 0
    spool.append(b"{}", sync=True)
    assert len(flushes) == 1


def test_sync_with_nothing_new_does_not_flush(root: Path, flushes: list[int]) -> None:
    spool = open_spool(root)
    spool.append(b"{}")

    spool.sync()
    spool.sync()

    assert len(flushes) == 1


async def test_callers_that_settle_during_a_flush_share_the_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = open_spool(root)
    began, release = threading.Event(), threading.Event()
    flushes: list[int] = []

    def flush(fd: int) -> None:
        flushes.append(fd)
        began.set()
        assert release.wait(10)

    monkeypatch.setattr(segments, "flush_to_disk", flush)

    async def append_and_settle() -> None:
        spool.append(b"{}")
        await spool.settle()

    first = asyncio.create_task(append_and_settle())
    await asyncio.to_thread(began.wait, 10)
    others = asyncio.gather(*(append_and_settle() for _ in range(100)))
    await asyncio.sleep(0)  # each has appended and waits
    release.set()
    await asyncio.gather(first, others)

    assert len(flushes) == 2


async def test_settling_does_not_block_the_loop(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = open_spool(root)
    release = threading.Event()
    monkeypatch.setattr(segments, "flush_to_disk", lambda fd: release.wait(10))
    spool.append(b"{}")

    settled = asyncio.create_task(spool.settle())
    await asyncio.sleep(0.02)
    spool.append(b"{}")  # nor does it block appending
    assert not settled.done()
    release.set()
    await settled


async def test_a_caller_that_is_cancelled_leaves_the_others_settling(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = open_spool(root)
    release = threading.Event()
    monkeypatch.setattr(segments, "flush_to_disk", lambda fd: release.wait(10))
    spool.append(b"{}")
    first, second = asyncio.create_task(spool.settle()), asyncio.create_task(spool.settle())
    await asyncio.sleep(0.02)

    first.cancel()
    release.set()

    await second
    assert first.cancelled()


async def test_a_disk_that_fails_is_told_to_whoever_waits_for_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = open_spool(root)
    with monkeypatch.context() as disk:
        disk.setattr(segments, "flush_to_disk", fail_with(errno.EIO))
        for waiting in (lambda: spool.append(b'{"n":0}', sync=True), spool.sync):
            with pytest.raises(StoreError, match=r"^cannot make `.*\.0000\.jsonl` durable: Input/output error$"):
                waiting()
        with pytest.raises(StoreError, match="durable: Input/output error"):
            await spool.settle()

    spool.append(b'{"n":1}', sync=True)

    assert recorded(root) == [b'{"n":0}', b'{"n":1}'], "it goes on in a new segment"


def test_a_full_disk_leaves_the_spool_as_it_was(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = open_spool(root)
    spool.append(b'{"n":0}')
    write = os.write

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", in_turn(lambda fd, data: write(fd, data[:5]), fail_with(errno.ENOSPC)))
        with pytest.raises(StoreError, match=r"^cannot record to `.*`: No space left on device; free some space$"):
            spool.append(b'{"n":1}')

    spool.append(b'{"n":2}')

    assert recorded(root) == [b'{"n":0}', b'{"n":2}']


def test_a_segment_that_cannot_be_started_leaves_no_gap(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepsnb.store.spool.SPOOL_SEGMENT_BYTES", 10)
    spool = open_spool(root)
    spool.append(b'{"n":0}')
    with monkeypatch.context() as disk:
        disk.setattr(Path, "rename", fail_with(errno.ENOSPC))
        with pytest.raises(
            StoreError, match=r"^cannot create `.*\.0001\.jsonl`: No space left on device; name another"
        ):
            spool.append(b'{"n":1}')

    spool.append(b'{"n":2}')

    first, last = sorted((root / "spool").iterdir())
    (found,) = read_tail(last, 0, 1, live=True)
    assert isinstance(found, Found), "a gap would come first"
    assert (first.suffix, last.suffix) == (".jsonl", ".jsonl"), "nor is anything left behind"


def test_a_line_that_cannot_be_taken_back_ends_its_segment(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = open_spool(root)
    spool.append(b'{"n":0}')
    write = os.write
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", in_turn(lambda fd, data: write(fd, data[:5]), fail_with(errno.EIO)))
        disk.setattr(os, "ftruncate", fail_with(errno.EIO))
        with pytest.raises(StoreError, match="cannot record"):
            spool.append(b'{"n":1}')

    spool.append(b'{"n":2}')

    assert len(list((root / "spool").glob("*.jsonl"))) == 2


def test_a_file_size_limit_is_an_error_and_not_a_torn_record(root: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from stepsnb.errors import StoreError
from stepsnb.store import open_spool
spool = open_spool(Path(sys.argv[1]))
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
acknowledged = 0
try:
    while True:
        spool.append(b'{"text":"' + b"x" * 100 + b'"}')
        acknowledged += 1
except StoreError as exc:
    print(acknowledged, exc)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
spool.append(b'{"last":true}')
"""
    done = subprocess.run([sys.executable, "-c", script, root], capture_output=True, text=True, check=True)

    acknowledged, _, message = done.stdout.partition(" ")
    assert "File too large; free some space" in message
    payloads = recorded(root)
    assert len(payloads) == int(acknowledged) + 1
    assert payloads[-1] == b'{"last":true}'


def test_a_segment_that_is_full_is_followed_by_another(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepsnb.store.spool.SPOOL_SEGMENT_BYTES", 60)
    spool = open_spool(root)

    for n in range(6):
        spool.append(b'{"n":%d}' % n)
    spool.sync()

    assert [path.name for path in sorted((root / "spool").iterdir())] == [
        f"{spool.writer}.{number:04d}.jsonl" for number in range(3)
    ]
    assert recorded(root) == [b'{"n":%d}' % n for n in range(6)]


def test_a_spool_that_was_deleted_between_runs_is_started_anew(root: Path) -> None:
    open_spool(root).append(b'{"n":0}')
    shutil.rmtree(root)

    open_spool(root).append(b'{"n":1}')

    assert recorded(root) == [b'{"n":1}']


def test_a_spool_that_is_deleted_during_a_run_makes_nothing_durable(root: Path) -> None:
    spool = open_spool(root)
    spool.append(b'{"n":0}')
    shutil.rmtree(root / "spool")

    with pytest.raises(StoreError, match=r"durable: it was deleted while runs were being recorded in it$"):
        spool.sync()


def test_a_closed_spool_is_no_longer_live_and_can_be_gone_on_with(root: Path) -> None:
    spool = open_spool(root)
    spool.append(b'{"n":0}')
    first = segment_of(root)

    spool.close()

    assert not is_live(first)
    spool.append(b'{"n":1}')
    assert recorded(root) == [b'{"n":0}', b'{"n":1}']


def test_what_is_recorded_while_the_process_ends_can_still_settle(root: Path) -> None:
    script = """
import asyncio, atexit, sys
from pathlib import Path
from stepsnb.store import open_spool
spool = open_spool(Path(sys.argv[1]))
spool.append(b'{"n":0}')
asyncio.run(spool.settle())

@atexit.register
def finish():
    spool.append(b'{"n":1}')
    asyncio.run(spool.settle())
    print("settled")
"""
    done = subprocess.run([sys.executable, "-c", script, root], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("settled\n", "")


def test_a_forked_child_appends_to_a_spool_of_its_own(root: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from stepsnb.store import open_spool
root = Path(sys.argv[1])
spool = open_spool(root)
spool.append(b'{"who":"parent"}')
if os.fork() == 0:
    spool.append(b'{"who":"child"}', sync=True)
    os._exit(0)
os.wait()
spool.append(b'{"who":"parent again"}', sync=True)
print(spool.writer)
"""
    done = subprocess.run([sys.executable, "-c", script, root], capture_output=True, text=True, check=True)

    own = root / "spool" / f"{done.stdout.strip()}.0000.jsonl"
    (other,) = {*(root / "spool").glob("*.jsonl")} - {own}
    assert payloads_in(own) == [b'{"who":"parent"}', b'{"who":"parent again"}']
    assert payloads_in(other) == [b'{"who":"child"}']


def test_opening_the_spool_while_others_settle_never_stands_still(root: Path) -> None:
    spool = open_spool(root)
    is_over = threading.Event()

    async def settle_on_and_on() -> None:
        while not is_over.is_set():
            spool.append(b"{}")
            await spool.settle()

    settling = threading.Thread(target=lambda: asyncio.run(settle_on_and_on()), daemon=True)
    opening = threading.Thread(target=lambda: [open_spool(root) for _ in range(20_000)], daemon=True)
    settling.start()
    opening.start()
    opening.join(30)
    is_over.set()
    settling.join(30)

    assert not opening.is_alive()
    assert not settling.is_alive()
