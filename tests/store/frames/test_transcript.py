from pathlib import Path

import pytest

from stepsnb.errors import InputError
from stepsnb.events import MessageAdded, TextChunk, TurnFinished
from stepsnb.store import Store, transcript_df
from tests.support.recorded import conversation, record


def test_a_row_is_a_message_in_the_order_in_which_they_came(root: Path, store: Store) -> None:
    record(root, "r1", conversation(turns=1))
    record(root, "r2", conversation())

    frame = transcript_df(store, "r1")

    assert frame[["role", "text", "tool"]].fillna("-").values.tolist() == [
        ["system", "You write.", "-"],
        ["user", "Write about tides.", "-"],
        ["assistant", "-", "-"],
        ["tool", "2", "add"],
        ["assistant", "High tide.", "-"],
    ]
    assert frame["step"].unique().tolist() == ["write"]
    assert frame["seq"].is_monotonic_increasing


@pytest.mark.parametrize("turns", [0, 1, 7])
def test_a_conversation_has_two_messages_and_two_a_tool_turn_and_the_answer(
    root: Path, store: Store, turns: int
) -> None:
    record(root, "r1", conversation(turns=turns))

    assert len(transcript_df(store, "r1")) == 2 + 2 * turns + 1


def test_a_reply_carries_its_tool_calls_and_a_result_its_call(root: Path, store: Store) -> None:
    record(root, "r1", conversation(turns=1))

    frame = transcript_df(store, "r1").set_index("role")

    assert frame.loc["assistant", "tool_calls"].tolist() == [
        '[{"id":"c1","name":"add","arguments":"{\\"a\\": 1}"}]',
        "[]",
    ]
    assert frame.loc["tool", ["call_id", "args", "ok", "turn"]].tolist() == ["c1", '{"a": 1}', True, 1]


def test_messages_that_stepsnb_put_in_are_marked(root: Path, store: Store) -> None:
    record(root, "r1", [MessageAdded(text="go on", synthetic=True)])

    assert transcript_df(store, "r1")["synthetic"].tolist() == [True]


def test_a_reply_cut_by_a_crash_shows_what_had_come_of_it(root: Path, store: Store) -> None:
    step = {"step_id": "s1", "turn": 1}
    record(root, "r1", [TextChunk(**step, text="High "), TextChunk(**step, text="ti")])

    frame = transcript_df(store, "r1")
    assert frame[["role", "turn", "text", "is_cut"]].values.tolist() == [["assistant", 1, "High ti", True]]

    record(root, "r1", [TurnFinished(**step, text="High tide.")], first_seq=2)
    assert transcript_df(store, "r1")[["text", "is_cut"]].values.tolist() == [["High tide.", False]]


def test_an_unknown_run_is_an_error(root: Path, store: Store) -> None:
    record(root, "r1", conversation())

    with pytest.raises(InputError, match=r"^unknown run `r` \(did you mean `r1`\?\)$"):
        transcript_df(store, "r")
