"""A ceiling on what all runs of one store spend, whichever kernel or process they are in.

The running path reads no database: what is spent is a line each in a file that every process appends to, and the
ceiling is a small file beside it that names that ledger. A new ceiling begins with an empty one.
"""

import contextlib
import errno
import os
import uuid
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

import msgspec

from ..errors import StoreError
from .folder import create_private, prepare_folder

FOLDER: Final = "cap"
_LIMIT: Final = "limit.json"
_SPENT: Final = "spent-"


class _Limit(msgspec.Struct, frozen=True):
    """The ceiling in US dollars as a decimal text, and the file of what was spent since it was set."""

    usd: str
    ledger: str


@dataclass(frozen=True, slots=True)
class Cap:
    """A ceiling and what has been spent of it, in US dollars."""

    usd: Decimal
    spent_usd: Decimal

    @property
    def left_usd(self) -> Decimal:
        """What is left of it; 0 where more was spent."""
        return max(self.usd - self.spent_usd, Decimal(0))


def set_cap(root: Path, usd: Decimal | None) -> None:
    """Set a ceiling from now on, or with None take it away. Raises: StoreError."""
    prepare_folder(root)
    folder = root / FOLDER
    try:
        folder.mkdir(0o700, exist_ok=True)
        if usd is None:
            (folder / _LIMIT).unlink(missing_ok=True)
            return
        ledger = f"{_SPENT}{uuid.uuid4().hex[:12]}"
        create_private(folder / ledger)
        draft = folder / f"{_LIMIT}.{os.getpid()}"
        draft.write_bytes(msgspec.json.encode(_Limit(format(usd, "f"), ledger)))
        draft.replace(folder / _LIMIT)
    except OSError as exc:
        raise StoreError(f"store `{root}`: cannot set a cap: {(exc.strerror or str(exc)).lower()}") from exc


def read_cap(root: Path) -> Cap | None:
    """Return the ceiling of a store and what has been spent of it; None where there is none. Raises: StoreError."""
    return Ledger(root).read()


@dataclass(slots=True)
class Ledger:
    """One process's view of a store's ceiling: reads what is new, appends what is spent here."""

    root: Path
    _name: str = field(default="", init=False)
    _offset: int = field(default=0, init=False)
    _spent: Decimal = field(default=Decimal(0), init=False)

    def read(self) -> Cap | None:
        """Return the ceiling as it is now, with what every process has spent of it. Raises: StoreError."""
        limit = self._limit()
        if limit is None:
            return None
        if limit.ledger != self._name:
            self._name, self._offset, self._spent = limit.ledger, 0, Decimal(0)
        self._read_on()
        return Cap(Decimal(limit.usd), self._spent)

    def add(self, usd: Decimal) -> None:
        """Note what a request here cost, if there is a ceiling. Raises: StoreError."""
        limit = self._limit() if usd else None
        if limit is None:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        try:
            fd = os.open(self.root / FOLDER / limit.ledger, flags)
            try:
                # One write, so that lines of other processes do not get into it; and a line that a full disk has cut
                # off does not take this one with it.
                line = f"\n{usd:f}\n".encode()
                if os.write(fd, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(fd)
        except OSError as exc:
            why = (exc.strerror or "").lower()
            raise StoreError(f"store `{self.root}`: cannot note what was spent: {why}") from exc

    def _limit(self) -> _Limit | None:
        try:
            data = (self.root / FOLDER / _LIMIT).read_bytes()
            limit = msgspec.json.decode(data, type=_Limit)
            usd = Decimal(limit.usd)
            if not usd.is_finite() or usd <= 0 or not limit.ledger.startswith(_SPENT) or "/" in limit.ledger:
                raise InvalidOperation
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, InvalidOperation) as exc:
            raise StoreError(f"store `{self.root}`: its cap cannot be read; set it again with `%steps cap`") from exc
        return limit

    def _read_on(self) -> None:
        with contextlib.suppress(FileNotFoundError), (self.root / FOLDER / self._name).open("rb") as file:
            file.seek(self._offset)
            data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._offset += len(whole)
            for line in whole.splitlines():
                with contextlib.suppress(InvalidOperation):
                    usd = Decimal(line.decode("ascii", "replace"))
                    self._spent += usd if usd.is_finite() else 0
