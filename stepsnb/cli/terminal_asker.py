"""Asking the person at the terminal the run was started from."""

import asyncio
import os
import select
import sys
import threading
from typing import TextIO

from ..people import Answer, PendingQuestion
from .output import say, write

_POLL_S = 0.1


def terminal_asker(out: TextIO) -> "TerminalAsker | None":
    """Return an asker when standard input is a terminal; None when nobody can type here."""
    return TerminalAsker(out) if sys.stdin is not None and sys.stdin.isatty() else None


class TerminalAsker:
    """Puts a question on the terminal and reads a line; one question at a time.

    The line is read in slices and not with `input()`: a thread inside `input()` cannot be called off, and one that
    still waits there when the process ends takes the interpreter down with it.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._turn = asyncio.Lock()

    async def ask(self, question: PendingQuestion) -> Answer | None:
        """Return what the person typed; None when the terminal's input has ended."""
        async with self._turn:
            self._show(question)
            while (line := await _read_line()) is not None:
                if (text := question.read_answer(line)) is not None:
                    return Answer(text, "prompt")
                say("    please type an answer" + _choices(question), file=self._out)
            return None

    def _show(self, question: PendingQuestion) -> None:
        for number, option in enumerate(question.options, 1):
            say(f"      {number}  {option}", file=self._out)
        if question.hint:
            say(f"      {question.hint}", file=self._out)
        if question.default is not None:
            say(f"      Enter alone answers `{question.default}`", file=self._out)
        write("    answer> ", self._out, end="")


def _choices(question: PendingQuestion) -> str:
    if question.takes_reason:
        return f": {', '.join(f'`{option}`' for option in question.options)}; {question.hint}"
    return f", or a number from 1 to {len(question.options)}" if question.options else ""


async def _read_line() -> str | None:
    called_off = threading.Event()
    try:
        return await asyncio.to_thread(_read_line_until, called_off)
    finally:
        called_off.set()


def _read_line_until(called_off: threading.Event) -> str | None:
    """Read one line of standard input; None at its end or once called off."""
    descriptor, line = sys.stdin.fileno(), b""
    while not called_off.is_set():
        readable, _, _ = select.select([descriptor], [], [], _POLL_S)
        if not readable:
            continue
        # One byte a time: what follows the line stays for the next question.
        byte = os.read(descriptor, 1)
        if not byte:
            return line.decode(errors="replace") if line else None
        if byte == b"\n":
            return line.decode(errors="replace")
        line += byte
    return None
