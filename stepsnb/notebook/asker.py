"""How a question reaches a person from a cell: a click in the live view, else `input()` on the cell's thread."""

import asyncio
import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..people import Answer, PendingQuestion


class Clicks(Protocol):
    """The live view, as far as a question needs it."""

    async def is_live(self) -> bool:
        """Wait until the front end has, or has not, proved that clicks arrive; then say which."""
        ...

    async def answer(self, question_id: str) -> str:
        """Wait for the answer a person gives in the view."""
        ...


class CellAsker:
    """Asks the live view when clicks arrive, else the prompt, else nobody."""

    def __init__(self, clicks: Clicks | None, prompts: "Prompts | None") -> None:
        self._clicks = clicks
        self._prompts = prompts

    async def ask(self, question: "PendingQuestion") -> "Answer | None":
        """Wait for a person on the engine's loop; None at once when there is no way to reach one."""
        from ..people import Answer

        if self._clicks is not None and await self._clicks.is_live():
            return Answer(await self._clicks.answer(question.question_id), "widget")
        if self._prompts is None:
            return None
        text = await self._prompts.ask(question)
        return None if text is None else Answer(text, "prompt")


class Prompts:
    """Questions waiting for the cell's own thread, the only one on which `input()` works."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Prompt] = queue.SimpleQueue()

    async def ask(self, question: "PendingQuestion") -> str | None:
        """Wait on the engine's loop until the cell's thread has asked; None when it could not."""
        prompt = _Prompt(question, asyncio.get_running_loop())
        self._waiting.put(prompt)
        try:
            return await prompt.answered
        except asyncio.CancelledError:
            prompt.withdraw()
            raise

    def serve(self) -> None:
        """Put what is waiting, on the calling (the cell's) thread; raises KeyboardInterrupt when interrupted."""
        while True:
            try:
                prompt = self._waiting.get_nowait()
            except queue.Empty:
                return
            prompt.put()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let interrupts through: an awaited cell's own handler cannot run while `input()` blocks its loop."""
    on_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler) if on_main else None
    try:
        yield
    finally:
        if on_main:
            signal.signal(signal.SIGINT, before)


class _Prompt:
    """One question put with `input()`."""

    def __init__(self, question: "PendingQuestion", loop: asyncio.AbstractEventLoop) -> None:
        self.answered: asyncio.Future[str | None] = loop.create_future()
        self._question = question
        self._loop = loop
        self._lock = threading.Lock()
        self._reader: int | None = None  # the thread inside `input()`, while it is
        self._is_withdrawn = False

    def put(self) -> None:
        """Ask, on the cell's thread, and hand the answer to the engine's loop."""
        text: str | None = None
        try:
            with self._reading():
                text = _read(self._question)
        except EOFError:
            pass  # no terminal behind `input()`: nobody to ask
        except KeyboardInterrupt:
            if not self._is_withdrawn:
                raise
        self._loop.call_soon_threadsafe(self._settle, text)

    def withdraw(self) -> None:
        """Nobody waits for the answer any more; end a pending `input()` on the main thread."""
        with self._lock:
            self._is_withdrawn = True
            if self._reader is not None and self._reader == threading.main_thread().ident:
                signal.pthread_kill(self._reader, signal.SIGINT)

    def _settle(self, text: str | None) -> None:
        if not self.answered.done():
            self.answered.set_result(text)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with interruptible():
            try:
                with self._lock:
                    if self._is_withdrawn:
                        raise KeyboardInterrupt
                    self._reader = threading.get_ident()
                yield
            finally:
                with self._lock:  # a withdrawal that saw the reader has sent its signal by now
                    self._reader = None


def _read(question: "PendingQuestion") -> str:
    """Ask until what is typed is an answer."""
    choices = ", ".join(f"{i} {option}" for i, option in enumerate(question.options, 1))
    hints = [hint for hint in (choices, question.hint) if hint]
    if question.default is not None:
        hints.append(f"default {question.default}")
    shown = f"{question.asked_by}: {question.text}" + (f" [{'; '.join(hints)}]" if hints else "") + " "
    while True:
        if (text := question.read_answer(input(shown))) is not None:
            return text
