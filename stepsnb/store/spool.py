"""Appending to a store: one spool a process and store, microseconds an event, no database.

`append` hands an event to the operating system, so a kill of this process loses nothing; `sync`, `settle` and
`append(..., sync=True)` return once it is on the disk, so a power cut loses nothing either. After a fork the child
goes on in a spool of its own.
"""

import asyncio
import concurrent.futures
import os
import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from ..errors import StoreError
from ..settings import SPOOL_SEGMENT_BYTES
from .folder import check_path, prepare_folder
from .records import encode_record
from .segments import Segment, SegmentName


class Spool:
    """The events this process appends to one store; get it from `open_spool`. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._become_writer()
        self._start_segment()

    def _become_writer(self) -> None:
        self.writer = f"{os.getpid()}-{secrets.token_hex(4)}"
        """Names this process in the store: its segments begin with it."""
        self._lock = threading.Lock()
        self._sync_lock = threading.Lock()
        self._segment: Segment | None = None
        self._retired: list[Segment] = []
        self._segments_started = 0
        self._next_seq = 0
        self._durable = 0
        self._lost = 0
        self._lost_reason = ""
        self._queued: concurrent.futures.Future[None] | None = None

    def append(self, payload: bytes, *, sync: bool = False) -> None:
        """Record one event, given as JSON on one line; with `sync`, return only once it is on the disk.

        Raises: StoreError if it was not recorded (the spool is then as it was before), or if it was recorded
            and cannot be made durable.
        """
        if b"\n" in payload:
            raise ValueError("a spool record is one line of JSON; this payload holds a line feed")
        with self._lock:
            seq = self._next_seq
            line = encode_record(seq, payload)
            segment = self._writable(len(line))
            # Counted before it is written: an interrupt in between leaves a gap that readers report,
            # where a number used twice would make them drop an event.
            self._next_seq = seq + 1
            try:
                segment.write(line)
            except OSError as exc:
                self._next_seq = seq
                raise StoreError(f"cannot record to `{segment.path}`: {exc.strerror}; free some space") from exc
        if sync:
            self._commit(seq + 1)

    def sync(self) -> None:
        """Block until everything appended so far is on the disk.

        Raises: StoreError if that failed for an event appended since the last time.
        """
        self._commit(self._next_seq)

    async def settle(self) -> None:
        """Wait, without blocking the loop, until everything appended so far is on the disk.

        Callers that wait at the same time share one flush, on a thread that all stores share.

        Raises: StoreError if that failed for an event appended since the last time.
        """
        if self._durable >= self._next_seq > self._lost:
            return
        with self._lock:
            queued = self._queued = self._queued or _submit(self._commit_queued)
        if queued is None:
            self.sync()
            return
        # Shielded: the flush is shared, one caller's cancellation must not take it from the others.
        await asyncio.shield(asyncio.wrap_future(queued))

    def close(self) -> None:
        """Make everything durable and let go of the file, as readers see it: this writer is gone.

        An append after that starts a new segment.
        """
        try:
            self.sync()
        finally:
            with self._sync_lock, self._lock:
                self._retire()
                for segment in self._retired:
                    segment.close()
                self._retired.clear()

    def ensure_linked(self) -> None:
        """Start a new segment if the current one was deleted, say by `rm -r .steps` between two runs."""
        with self._sync_lock, self._lock:
            if self._segment is not None and not self._segment.is_linked:
                self._lost, self._lost_reason = self._next_seq, f"`{self._segment.path}` was deleted while in use"
                self._segment.close()
                self._segment = None
            if self._segment is None:
                self._start_segment()

    def _writable(self, size: int) -> Segment:
        if self._segment is not None and (
            self._segment.is_broken or (self._segment.size and self._segment.size + size > SPOOL_SEGMENT_BYTES)
        ):
            self._retire()
        return self._segment or self._start_segment()

    def _start_segment(self) -> Segment:
        name = SegmentName(self.writer, self._segments_started)
        path = prepare_folder(self.root) / str(name)
        try:
            self._segment = Segment.create(path)
        except OSError as exc:
            raise StoreError(f"cannot create `{path}`: {exc.strerror}; name another store with `store=`") from exc
        self._segments_started += 1
        return self._segment

    def _retire(self) -> None:
        # Whoever syncs next flushes and closes it: closing here could pull it away under a flush.
        if self._segment is not None:
            self._retired.append(self._segment)
            self._segment = None

    def _commit_queued(self) -> None:
        with self._lock:
            self._queued = None
            upto = self._next_seq
        self._commit(upto)

    def _commit(self, upto: int) -> None:
        """Flush what is appended so far unless another thread has already done it for the first `upto` events."""
        with self._sync_lock:
            if self._durable < upto:
                self._flush()
            if self._lost >= upto > 0:
                raise StoreError(self._lost_reason)

    def _flush(self) -> None:
        with self._lock:
            retired, self._retired = self._retired, []
            current, reached = self._segment, self._next_seq
        segments = [*retired, current] if current else retired
        try:
            for segment in segments:
                segment.flush()
        except OSError as exc:
            # The kernel forgets what it failed to write, so a second try would only seem to succeed.
            self._lost, self._lost_reason = reached, f"cannot make `{segment.path}` durable: {exc.strerror}"
            retired = segments
            with self._lock:
                self._retired = [other for other in self._retired if other is not current]
                self._segment = None if self._segment is current else self._segment
        self._durable = reached
        for segment in retired:
            segment.close()

    def _leave_to_parent(self) -> None:
        """Forget what belongs to the parent process; its lock stays, as the parent still holds it."""
        inherited = [*self._retired, *([self._segment] if self._segment else [])]
        self._become_writer()
        for segment in inherited:
            segment.close()


_lock = threading.Lock()
_spools: dict[str, Spool] = {}
_executor: concurrent.futures.ThreadPoolExecutor | None = None


def open_spool(root: Path) -> Spool:
    """Return this process's spool in the store `root`, creating store and spool when they are not there.

    Raises: StoreError if the folder cannot be created or written, or could not be read as a `Store`.
    """
    check_path(root)
    with _lock:
        key = os.path.realpath(root)
        spool = _spools.get(key)
        if spool is None:
            spool = _spools[key] = Spool(Path(key))
    # Outside the lock: `settle` takes the spool's own lock first and this one second.
    spool.ensure_linked()
    return spool


def _submit(flush: Callable[[], None]) -> concurrent.futures.Future[None] | None:
    """Hand work to the one thread that flushes for callers of `settle`; None when the process is ending."""
    global _executor  # noqa: PLW0603 - one thread a process is the point
    with _lock:
        if _executor is None:
            _executor = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="stepsnb-flush")
        executor = _executor
    try:
        return executor.submit(flush)
    except RuntimeError:  # the interpreter takes no more work for threads
        return None


def _start_anew_in_child() -> None:
    global _lock, _executor
    # Both belong to threads that only the parent has.
    _lock, _executor = threading.Lock(), None
    for spool in _spools.values():
        spool._leave_to_parent()


os.register_at_fork(after_in_child=_start_anew_in_child)
