"""Answers from other kernels and shells: one file a question in the store's folder, which its run watches.

The first answer wins: a file appears under the question's id at once and whole, or not at all, and never twice.
"""

import asyncio
import contextlib
import os
import re
import time
from pathlib import Path
from typing import Final

import msgspec

from ..errors import InputError, StoreError
from ..settings import MAILBOX_POLL_S
from .questions import Answer

FOLDER: Final = "mailbox"
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")


class Letter(msgspec.Struct, frozen=True):
    """An answer on its way: its text, who gave it, and when (seconds since 1970)."""

    answer: str
    answered_by: str
    at: float

    @property
    def is_answer(self) -> bool:
        """Whether somebody answered; else it only says that no answer counts any more, since its time was up."""
        return self.answered_by not in ("expired", "default")


_decode: Final = msgspec.json.Decoder(Letter).decode


class Mailbox:
    """The answers that lie in a store's folder."""

    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER

    def post(self, question_id: str, answer: str, answered_by: str) -> Letter | None:
        """Answer a question; None when this is the first answer, else the one that came before it.

        Raises: InputError for an id that is none; StoreError when nothing can be written.
        """
        path, letter = self._path(question_id), Letter(answer, answered_by, time.time())
        draft = path.with_name(f".{question_id}.{os.getpid()}.{time.monotonic_ns()}")
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(msgspec.json.encode(letter))
                    file.flush()
                    os.fsync(file.fileno())
                os.link(draft, path)
            finally:
                draft.unlink()
            _flush(self._folder)
        except FileExistsError:
            return self.read(question_id)
        except OSError as exc:
            raise StoreError(f"cannot answer in `{self._folder}`: {(exc.strerror or str(exc)).lower()}") from exc
        return None

    def read(self, question_id: str) -> Letter | None:
        """Return the answer to a question; None while there is none. Raises: StoreError for one that is damaged."""
        try:
            return _decode(self._path(question_id).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as exc:
            raise StoreError(f"the answer to question {question_id} cannot be read; delete it and answer anew") from exc

    async def wait(self, question_id: str) -> Answer:
        """Wait until somebody answers a question from elsewhere."""
        while (letter := self.read(question_id)) is None:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(MAILBOX_POLL_S)
        return Answer(letter.answer, "mailbox", letter.answered_by)

    def close(self, question_id: str, answer: str, answered_by: str) -> Letter | None:
        """Take the place of an answer from elsewhere, since one was given here; else the one that came first."""
        with contextlib.suppress(StoreError):  # a run goes on without its mailbox
            return self.post(question_id, answer, answered_by)
        return None

    def _path(self, question_id: str) -> Path:
        if not _ID.fullmatch(question_id):
            raise InputError(f"question `{question_id}`: this is no question's id; `stepsnb questions` lists them")
        return self._folder / question_id


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
