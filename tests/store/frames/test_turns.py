from pathlib import Path

import pandas as pd

from stepsnb.events import TurnFinished
from stepsnb.store import Store, turns_df
from tests.support.recorded import conversation, delegation, record


def test_a_row_is_a_reply(root: Path, store: Store) -> None:
    record(root, "r1", conversation(turns=1))

    frame = turns_df(store, "r1")

    assert frame["turn"].tolist() == [1, 2]
    assert frame["finish_reason"].tolist() == ["tool_calls", "stop"]
    assert frame["tool_calls"].tolist() == ['[{"id":"c1","name":"add","arguments":"{\\"a\\": 1}"}]', "[]"]


def test_no_text_is_not_an_empty_text(root: Path, store: Store) -> None:
    record(root, "r1", [TurnFinished(turn=1, text=None), TurnFinished(turn=2, text="")])

    first, second = turns_df(store)["text"]

    assert pd.isna(first)
    assert second == ""


def test_a_reply_says_what_was_wrong_with_it_and_whether_a_model_made_it(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    rows = turns_df(store)[["turn", "marks", "synthetic"]].values.tolist()

    assert rows[:2] == [[0, [], True], [1, ["repaired", "no_usage"], False]]
