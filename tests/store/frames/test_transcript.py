from pathlib import Path

import pytest

from stepsnb.errors import InputError
from stepsnb.events import MessageAdded, StepStarted, TextChunk, Tool, TurnFinished
from stepsnb.settings import TRANSCRIPT_RESULT_BYTES
from stepsnb.store import Store, transcript_df
from tests.support.recorded import conversation, delegation, record


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


def test_a_sub_agents_conversation_and_every_note_stand_where_they_belong(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    frame = transcript_df(store, "r1")

    assert frame[["depth", "step", "role", "text"]].fillna("-").values.tolist() == [
        [0, "write", "system", "You write."],
        [0, "write", "user", "Write about tides."],
        [0, "write", "assistant", "-"],
        [0, "write", "tool", "given"],
        [0, "write", "note", "llm tried again (replay), attempt 2 of 3, after 2.0 s: too many requests"],
        [0, "write", "assistant", "-"],
        [0, "write", "tool", "b"],
        [1, "summarizer", "user", "sum up"],
        [1, "summarizer", "assistant", "-"],
        [1, "summarizer", "tool", ""],
        [1, "summarizer", "note", "`read_file` called 6 times with the same result"],
        [1, "summarizer", "assistant", "In short."],
        [0, "write", "tool", "In short."],
        [0, "write", "note", "summarised 100,000 tokens to 9,000, the last 2 messages kept: Tides so far."],
        [0, "write", "note", "the server read 4,000 of the 9,000 tokens it was sent"],
        [0, "write", "note", "reminded of what it still owes: the file `a.md`"],
        [0, "write", "assistant", "High tide."],
    ]
    assert frame["note"].dropna().tolist() == ["retry", "loop_warning", "compaction", "context_truncated", "nudge"]
    assert frame["parent_call_id"].dropna().unique().tolist() == ["c1"]
    assert frame["marks"].tolist()[5] == ["repaired", "no_usage"]


def test_what_was_read_beforehand_is_marked_as_put_in(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    frame = transcript_df(store, "r1")

    assert frame.loc[frame["synthetic"], ["role", "call_id"]].fillna("-").values.tolist() == [
        ["assistant", "-"],
        ["tool", "opening_1"],
    ]


def test_a_run_that_was_killed_has_what_was_recorded_and_the_call_it_was_in(root: Path, store: Store) -> None:
    record(root, "r1", delegation(child_ends=False))

    frame = transcript_df(store, "r1")

    assert frame.loc[frame["is_cut"], ["role", "tool", "call_id"]].values.tolist() == [["tool", "summarizer", "c1"]]
    assert "summarizer" in frame["step"].tolist()


@pytest.mark.parametrize("outcome", ["succeeded", "failed", "errored", "aborted", None])
def test_every_outcome_leaves_the_same_transcript(root: Path, store: Store, outcome: str | None) -> None:
    record(root, "r1", conversation(turns=1, outcome=outcome))

    assert len(transcript_df(store, "r1")) == 5


@pytest.mark.parametrize("batch", [1, 50_000])
def test_what_is_recorded_again_is_there_once(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr("stepsnb.store.ingest.INGEST_BATCH_EVENTS", batch)
    record(root, "r1", delegation())
    record(root, "r1", delegation())

    assert len(transcript_df(store, "r1")) == 17


def test_results_are_cut_and_other_texts_are_not(root: Path, store: Store) -> None:
    end = Tool(step_id="s1", turn=1, phase="end", call_id="c", tool="t", result="é" * 5_000)
    record(root, "r1", [MessageAdded(step_id="s1", text="x" * 9_000), end])

    said, result = transcript_df(store, "r1").to_dict("records")

    assert (len(said["text"]), said["text_bytes"]) == (9_000, 9_000)
    assert (len(result["text"].encode()), result["text_bytes"]) == (TRANSCRIPT_RESULT_BYTES, 10_000)


def test_a_record_that_is_its_own_parent_is_shown_all_the_same(root: Path, store: Store) -> None:
    loop = StepStarted(step_id="s1", name="w", step_kind="sub_agent", parent_id="s1", call_id="c")
    record(root, "r1", [loop, MessageAdded(step_id="s1", text="hi")])

    assert transcript_df(store, "r1")[["text", "depth"]].values.tolist() == [["hi", 0]]


def test_an_unknown_run_is_an_error(root: Path, store: Store) -> None:
    record(root, "r1", conversation())

    with pytest.raises(InputError, match=r"^unknown run `r` \(did you mean `r1`\?\)$"):
        transcript_df(store, "r")
