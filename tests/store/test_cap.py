import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from stepsnb.errors import StoreError
from stepsnb.store.cap import Ledger, read_cap, set_cap

SPEND = """
import sys
from decimal import Decimal
from pathlib import Path
from stepsnb.store.cap import Ledger
ledger = Ledger(Path(sys.argv[1]))
for _ in range(500):
    ledger.add(Decimal("0.001"))
"""


def test_store_without_a_cap_has_none_and_keeps_no_ledger(root: Path) -> None:
    ledger = Ledger(root)
    ledger.add(Decimal(1))
    assert (ledger.read(), read_cap(root)) == (None, None)


def test_what_is_spent_after_it_was_set_counts(root: Path) -> None:
    ledger = Ledger(root)
    set_cap(root, Decimal("2.00"))
    ledger.add(Decimal("0.75"))
    cap = read_cap(root)
    assert cap is not None
    assert (cap.usd, cap.spent_usd, cap.left_usd) == (Decimal("2.00"), Decimal("0.75"), Decimal("1.25"))


def test_new_cap_begins_anew_also_for_who_knew_the_old_one(root: Path) -> None:
    ledger = Ledger(root)
    set_cap(root, Decimal(1))
    ledger.add(Decimal("0.9"))
    assert ledger.read() is not None
    set_cap(root, Decimal(3))
    found = ledger.read()
    assert found is not None
    assert (found.usd, found.spent_usd) == (Decimal(3), Decimal(0))
    set_cap(root, None)
    assert ledger.read() is None


def test_processes_count_together_and_lose_nothing(root: Path) -> None:
    set_cap(root, Decimal(10))
    processes = [subprocess.Popen([sys.executable, "-c", SPEND, str(root)]) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    cap = read_cap(root)
    assert cap is not None
    assert cap.spent_usd == Decimal("2.000")


def test_line_that_is_under_way_counts_once_it_is_whole(root: Path) -> None:
    set_cap(root, Decimal(1))
    (ledger_file,) = (root / "cap").glob("spent-*")
    ledger = Ledger(root)
    with ledger_file.open("ab") as file:
        file.write(b"0.2")
        file.flush()
        assert ledger.read().spent_usd == 0  # type: ignore[union-attr]
        file.write(b"5\n")
        file.flush()
        assert ledger.read().spent_usd == Decimal("0.25")  # type: ignore[union-attr]


def test_cap_that_cannot_be_read_stops_spending(root: Path) -> None:
    set_cap(root, Decimal(1))
    (root / "cap" / "limit.json").write_text("{")
    with pytest.raises(StoreError, match="its cap cannot be read; set it again"):
        Ledger(root).read()


def test_line_that_a_full_disk_cut_off_takes_no_other_with_it(root: Path) -> None:
    set_cap(root, Decimal(1))
    (ledger,) = (root / "cap").glob("spent-*")
    ledger.write_bytes(b"0.")
    Ledger(root).add(Decimal("0.25"))
    cap = read_cap(root)
    assert cap is not None
    assert cap.spent_usd == Decimal("0.25")


@pytest.mark.parametrize("line", [b"NaN", b"Infinity", b"sNaN", b"-Infinity"])
def test_line_that_is_no_amount_counts_nothing(root: Path, line: bytes) -> None:
    set_cap(root, Decimal(1))
    (ledger,) = (root / "cap").glob("spent-*")
    ledger.write_bytes(line + b"\n0.5\n")
    cap = read_cap(root)
    assert cap is not None
    assert cap.spent_usd == Decimal("0.5")


@pytest.mark.parametrize(
    ("usd", "ledger"),
    [("NaN", "spent-1"), ("Infinity", "spent-1"), ("-1", "spent-1"), ("1", "x"), ("1", "spent-/../x")],
)
def test_cap_that_was_written_by_hand_and_makes_no_sense_is_an_error(root: Path, usd: str, ledger: str) -> None:
    set_cap(root, Decimal(1))
    (root / "cap" / "limit.json").write_text(f'{{"usd": "{usd}", "ledger": "{ledger}"}}')
    with pytest.raises(StoreError, match="its cap cannot be read; set it again"):
        read_cap(root)
