from pathlib import Path

import pytest

from stepsnb.errors import InputError
from stepsnb.store import Store, run_events
from tests.support.recorded import conversation, record


def test_events_come_back_as_they_were_recorded_and_in_order(root: Path, store: Store) -> None:
    recorded = record(root, "r1", conversation())
    record(root, "r2", conversation())

    assert run_events(store, "r1") == recorded


def test_events_of_an_unknown_run_are_an_error(root: Path, store: Store) -> None:
    record(root, "r1", conversation())

    with pytest.raises(InputError, match=r"^unknown run `r` \(did you mean `r1`\?\)$"):
        run_events(store, "r")
