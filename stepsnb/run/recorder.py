"""Stamps a run's events and hands them to the store's spool and to whoever watches, in one order."""

import time
from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol

from ..events import LIVE_ONLY, Emit, Event, TextChunk, TextDelta, TurnFinished, decode_event, encode_event
from ..settings import TEXT_CHUNK_BYTES, TEXT_CHUNK_S

REDACTED = "[redacted]"


class Sink(Protocol):
    """Where encoded events are kept: the store's spool."""

    def append(self, payload: bytes) -> None:
        """Append one encoded event."""
        ...

    def settle(self) -> Awaitable[None]:
        """Wait until everything appended so far is on the disk."""
        ...


def _json_bytes(secret: str) -> bytes:
    return encode_event(TextDelta(delta=secret)).split(b'"delta":"', 1)[1].rsplit(b'"', 1)[0]


class Recorder:
    """The one place a run's events pass through.

    An event is stamped, secrets in it are replaced, it is stored, and only then shown: what people see is never
    ahead of what a crash would leave. Streamed text is stored in chunks while a reply is under way.
    """

    def __init__(
        self, run_id: str, *, sink: Sink | None, watchers: Iterable[Emit] = (), secrets: Sequence[str] = ()
    ) -> None:
        self.run_id = run_id
        self._sink = sink
        self._watchers = tuple(watchers)
        self._secrets = [(_json_bytes(secret), REDACTED.encode()) for secret in secrets if secret]
        self._seq = 0
        self._pending: dict[str, _PendingText] = {}
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Record one event; raises StoreError when the store cannot take it."""
        event.run_id = self.run_id
        event.seq = self._seq
        event.at = time.time()
        self._seq += 1
        payload = b""
        is_live_only = isinstance(event, LIVE_ONLY)
        if self._secrets or not is_live_only:
            payload = encode_event(event)
            for secret, replacement in self._secrets:
                if secret in payload:
                    payload = payload.replace(secret, replacement)
                    event = decode_event(payload)
        if not is_live_only:
            if isinstance(event, TurnFinished):
                self._pending.pop(event.step_id, None)
            self.events.append(event)
            if self._sink is not None:
                self._sink.append(payload)
        for watch in self._watchers:
            watch(event)
        if is_live_only:
            self._collect(event)

    def _collect(self, event: Event) -> None:
        if not isinstance(event, TextDelta):
            return
        pending = self._pending.get(event.step_id)
        if pending is None:
            pending = self._pending[event.step_id] = _PendingText(event.at)
        pending.parts.append(event.delta)
        pending.size += len(event.delta)
        if pending.size >= TEXT_CHUNK_BYTES or event.at - pending.since >= TEXT_CHUNK_S:
            del self._pending[event.step_id]
            self.emit(TextChunk(step_id=event.step_id, turn=event.turn, text="".join(pending.parts)))

    def step(self, step_id: str) -> Emit:
        """Return an `Emit` that files everything under one step."""

        def emit(event: Event) -> None:
            event.step_id = step_id
            self.emit(event)

        return emit

    async def settle(self) -> None:
        """Wait until everything recorded so far is on the disk; concurrent waiters share one flush.

        Awaited where a record must count before anybody acts on it: a tool call's intent, a question, the end of a
        step or run.
        """
        if self._sink is not None:
            await self._sink.settle()


class _PendingText:
    __slots__ = ("parts", "since", "size")

    def __init__(self, since: float) -> None:
        self.since = since
        self.parts: list[str] = []
        self.size = 0
