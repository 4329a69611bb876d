"""Stamps a run's events and hands them to the store's spool and to whoever watches, in one order."""

import time
from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol

from ..events import (
    LIVE_ONLY,
    Emit,
    Event,
    Request,
    StepFinished,
    TextChunk,
    TextDelta,
    ThinkingDelta,
    TurnFinished,
)
from ..settings import SECRET_CHARACTERS, TEXT_CHUNK_BYTES, TEXT_CHUNK_S
from .redaction import REDACTED, Redaction


class Sink(Protocol):
    """Where encoded events are kept: the store's spool."""

    def append(self, payload: bytes) -> None:
        """Append one encoded event."""
        ...

    def settle(self) -> Awaitable[None]:
        """Wait until everything appended so far is on the disk."""
        ...


class Recorder:
    """The one place a run's events pass through.

    An event is stamped, secrets in it are replaced, it is stored, and only then shown: what people see is never
    ahead of what a crash would leave. Streamed text is stored in chunks while a reply is under way.
    """

    def __init__(
        self,
        run_id: str,
        *,
        sink: Sink | None,
        watchers: Iterable[Emit] = (),
        secrets: Sequence[str] = (),
        before: Sequence[Event] = (),
    ) -> None:
        """Record one run; `before` are the events it has already, when it is resumed."""
        self.run_id = run_id
        self._sink = sink
        self._watchers = list(watchers)
        self._secrets = list(secrets)
        self._redaction = Redaction(self._secrets)
        self._seq = max((event.seq for event in before), default=-1) + 1
        self._pending: dict[str, _PendingText] = {}
        self._held: dict[tuple[str, int, type[TextDelta | ThinkingDelta]], str] = {}
        self.events: list[Event] = list(before)
        """Everything but deltas, in order: a run's record is in memory as long as somebody holds the run."""

    def hide(self, secrets: Sequence[str]) -> None:
        """Replace more values in what is recorded from now on."""
        new = [secret for secret in secrets if secret not in self._secrets]
        if not new:
            return
        self._secrets += new
        self._redaction = Redaction(self._secrets)

    def watch(self, watcher: Emit) -> None:
        """Show a late watcher what was recorded so far and all that comes; on the engine's thread."""
        for event in self.events:
            watcher(event)
        self._watchers.append(watcher)

    def emit(self, event: Event) -> None:
        """Record one event; raises StoreError when the store cannot take it."""
        is_live_only = isinstance(event, LIVE_ONLY)
        if isinstance(event, LIVE_ONLY) and self._redaction:
            event.delta = self._shown_part(event)
            if not event.delta:
                return
        if not is_live_only:
            self._release(event.step_id)
            self._settle_pending(event)
        event, payload = self._stamp(event)
        if not is_live_only:
            if self._sink is not None:
                self._sink.append(payload)
            self.events.append(event)
        self._show(event)
        if isinstance(event, TextDelta):
            self._collect(event)

    def redact(self, text: str) -> str:
        """Replace the run's secrets in a text that leaves it some other way than as an event."""
        return self._redaction.hide(text)

    def _shown_part(self, event: TextDelta | ThinkingDelta) -> str:
        """Return what may be shown of streamed text; an end that may turn out to be a secret waits for what follows."""
        key = (event.step_id, event.turn, type(event))
        shown, held = self._redaction.split(self._held.pop(key, "") + event.delta)
        if held:
            self._held[key] = held
        return shown

    def _release(self, step_id: str) -> None:
        """Show what was held back of a step whose stream has ended; most of a secret is as secret as all of it."""
        for key in [key for key in self._held if key[0] == step_id]:
            held, (_, turn, kind) = self._held.pop(key), key
            text = REDACTED if len(held) >= SECRET_CHARACTERS else held
            delta = kind(step_id=step_id, turn=turn, delta=text)
            self._show(self._stamp(delta)[0])
            if isinstance(delta, TextDelta):
                self._collect(delta)

    def show(self, event: Event) -> None:
        """Show an event that cannot be stored any more."""
        self._show(self._stamp(event)[0])

    def _stamp(self, event: Event) -> tuple[Event, bytes]:
        event.run_id = self.run_id
        event.seq = self._seq
        event.at = time.time()
        self._seq += 1
        if isinstance(event, LIVE_ONLY) and not self._redaction:
            return event, b""  # not worth the time where nothing is stored of it and nothing is to be hidden
        return self._redaction.clean(event)

    def _show(self, event: Event) -> None:
        for watch in tuple(self._watchers):
            try:
                watch(event)
            except BaseException:
                # It ends the run, whose end must be recorded without tripping over the same watcher.
                self._watchers.remove(watch)
                raise

    def _settle_pending(self, event: Event) -> None:
        """Drop streamed text that comes whole now; keep what will never come whole."""
        if isinstance(event, TurnFinished):
            self._pending.pop(event.step_id, None)
        elif event.step_id in self._pending and (
            isinstance(event, StepFinished) or (isinstance(event, Request) and event.error is not None)
        ):
            self._store_pending(event.step_id)

    def _collect(self, event: TextDelta) -> None:
        pending = self._pending.get(event.step_id)
        if pending is None or pending.turn != event.turn:
            pending = self._pending[event.step_id] = _PendingText(event.turn, event.at)
        pending.parts.append(event.delta)
        pending.size += len(event.delta)
        if pending.size >= TEXT_CHUNK_BYTES or event.at - pending.since >= TEXT_CHUNK_S:
            self._store_pending(event.step_id)

    def _store_pending(self, step_id: str) -> None:
        pending = self._pending.pop(step_id)
        self.emit(TextChunk(step_id=step_id, turn=pending.turn, text="".join(pending.parts)))

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
    __slots__ = ("parts", "since", "size", "turn")

    def __init__(self, turn: int, since: float) -> None:
        self.turn = turn
        self.since = since
        self.parts: list[str] = []
        self.size = 0
