from pathlib import Path

import pandas as pd

from stepsnb.store import Store, questions_df
from tests.support.recorded import BEGAN, question, record


def test_an_open_question_has_no_answer(root: Path, store: Store) -> None:
    record(root, "r1", [question("asked", options_required=True, default="A", expires_at=BEGAN + 300)])

    (row,) = questions_df(store).to_dict("records")

    assert (row["id"], row["run_id"], row["step_id"], row["agent"]) == ("q1", "r1", "s1", "writer")
    assert (row["question"], row["options"], row["options_required"]) == ("Which port?", ["A", "B"], True)
    assert (row["default"], row["expires_at"]) == ("A", pd.Timestamp(BEGAN + 300, unit="s", tz="UTC"))
    assert [pd.isna(row[name]) for name in ("answered_at", "answer", "source", "answered_by")] == [True] * 4


def test_an_answer_that_comes_later_is_in_the_same_row(root: Path, store: Store) -> None:
    record(root, "r1", [question("asked")])
    questions_df(store)
    record(root, "r1", [question("answered", answer="B", source="widget", answered_by="me")], first_seq=1)

    (row,) = questions_df(store).to_dict("records")

    assert (row["answer"], row["source"], row["answered_by"]) == ("B", "widget", "me")
    assert row["answered_at"] == pd.Timestamp(BEGAN + 1, unit="s", tz="UTC")
    assert row["asked_at"] == pd.Timestamp(BEGAN, unit="s", tz="UTC")


def test_an_expired_question_was_never_answered(root: Path, store: Store) -> None:
    record(root, "r1", [question("asked"), question("expired")])

    (row,) = questions_df(store).to_dict("records")

    assert pd.isna(row["answered_at"])
    assert pd.isna(row["answer"])


def test_a_question_without_options_has_an_empty_list(root: Path, store: Store) -> None:
    record(root, "r1", [question("asked", options=[])])

    assert questions_df(store)["options"].tolist() == [[]]
