import fcntl
import sys
from pathlib import Path

from stepsnb.store.holder import describe_holder


def test_a_lock_that_nobody_holds_or_that_is_not_there_is_anothers(tmp_path: Path) -> None:
    (tmp_path / "free").touch()

    assert describe_holder(tmp_path / "free") == "another process"
    assert describe_holder(tmp_path / "none") == "another process"


def test_a_lock_of_ones_own_is_told_as_such(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        # Only Linux lists who holds a lock.
        own = "this process, in another session" if sys.platform == "linux" else "another process"
        assert describe_holder(lock) == own
