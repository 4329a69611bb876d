"""Events on their way to the spool and to whoever watches."""

import pytest

from stepsnb.errors import StoreError
from stepsnb.events import (
    MessageAdded,
    Request,
    StepFinished,
    TextDelta,
    TurnFinished,
    decode_event,
)
from stepsnb.run import Recorder
from stepsnb.settings import TEXT_CHUNK_BYTES


class Spool:
    def __init__(self):
        self.payloads, self.settled = [], 0

    def append(self, payload):
        self.payloads.append(payload)

    async def settle(self):
        self.settled = len(self.payloads)

    @property
    def events(self):
        return [decode_event(payload) for payload in self.payloads]


def test_events_are_stamped_in_order():
    spool = Spool()
    recorder = Recorder("R", sink=spool)
    emit = recorder.step("s1")
    recorder.emit(MessageAdded(text="a"))
    emit(MessageAdded(text="b"))
    first, second = spool.events
    assert [(e.run_id, e.step_id, e.seq) for e in (first, second)] == [("R", "", 0), ("R", "s1", 1)]
    assert 0 < first.at <= second.at


def test_deltas_are_seen_and_not_stored():
    spool, seen = Spool(), []
    recorder = Recorder("R", sink=spool, watchers=[seen.append])
    recorder.emit(TextDelta(delta="hi"))
    assert ([e.delta for e in seen], spool.payloads, recorder.events) == (["hi"], [], [])


def test_streamed_text_is_stored_in_chunks_while_the_reply_is_under_way():
    spool = Spool()
    emit = Recorder("R", sink=spool).step("s1")
    for _ in range(2 * TEXT_CHUNK_BYTES // 16):
        emit(TextDelta(delta="x" * 16, turn=1))
    chunks = spool.events
    assert [(e.kind, e.step_id, e.turn, len(e.text)) for e in chunks] == [("text_chunk", "s1", 1, TEXT_CHUNK_BYTES)] * 2


def test_rest_of_a_chunk_is_dropped_when_the_whole_reply_is_stored():
    spool = Spool()
    emit = Recorder("R", sink=spool).step("s1")
    emit(TextDelta(delta="Fjord", turn=1))
    emit(TurnFinished(turn=1, text="Fjord"))
    assert [e.kind for e in spool.events] == ["turn_finished"]


@pytest.mark.parametrize("secret", ["sk-abc123456", 'quote"and\\slash', "käse-ключ"])
def test_secret_is_replaced_in_the_store_and_in_the_view(secret):
    spool, seen = Spool(), []
    recorder = Recorder("R", sink=spool, watchers=[seen.append], secrets=[secret])
    recorder.emit(MessageAdded(text=f"the key is {secret}!"))
    recorder.emit(TextDelta(delta=f"<{secret}>"))
    assert spool.events[0].text == recorder.events[0].text == "the key is [redacted]!"
    assert [e.text if e.kind == "message" else e.delta for e in seen] == ["the key is [redacted]!", "<[redacted]>"]


async def test_settling_waits_for_what_was_recorded():
    spool = Spool()
    recorder = Recorder("R", sink=spool)
    recorder.emit(MessageAdded(text="a"))
    await recorder.settle()
    assert spool.settled == 1


def test_what_the_store_refuses_is_not_shown():
    class Full(Spool):
        def append(self, payload):
            raise StoreError("no space left")

    seen = []
    with pytest.raises(StoreError):
        Recorder("R", sink=Full(), watchers=[seen.append]).emit(MessageAdded(text="a"))
    assert seen == []


@pytest.mark.parametrize("end", [Request(turn=1, error="lost"), StepFinished(outcome="aborted")])
def test_streamed_text_that_will_never_come_whole_is_kept(end):
    spool = Spool()
    emit = Recorder("R", sink=spool).step("s1")
    emit(TextDelta(delta="Fj", turn=1))
    emit(TextDelta(delta="ord", turn=1))
    emit(end)
    assert [(e.kind, getattr(e, "text", None)) for e in spool.events] == [("text_chunk", "Fjord"), (end.kind, None)]


def test_watcher_that_raises_is_heard_once_and_not_asked_again():
    def broken(event):
        raise ValueError("no such field")

    spool, seen = Spool(), []
    recorder = Recorder("R", sink=spool, watchers=[broken, seen.append])
    with pytest.raises(ValueError, match="no such field"):
        recorder.emit(MessageAdded(text="a"))
    recorder.emit(MessageAdded(text="b"))
    assert [event.text for event in spool.events] == ["a", "b"]
    assert [event.text for event in seen] == ["b"]


def test_event_that_cannot_be_stored_can_still_be_shown():
    spool, seen = Spool(), []
    Recorder("R", sink=spool, watchers=[seen.append]).show(MessageAdded(text="the end"))
    assert ([event.text for event in seen], spool.payloads) == (["the end"], [])


@pytest.mark.parametrize("cut", range(1, len("sk-abc123456")))
def test_secret_split_over_two_deltas_is_neither_shown_nor_stored(cut):
    secret, spool, seen = "sk-abc123456", Spool(), []
    emit = Recorder("R", sink=spool, watchers=[seen.append], secrets=[secret]).step("s1")
    for delta in (f"key {secret[:cut]}", f"{secret[cut:]} end"):
        emit(TextDelta(delta=delta, turn=1))
    emit(StepFinished())
    assert "".join(e.delta for e in seen if e.kind == "text_delta") == "key [redacted] end"
    assert "".join(e.text for e in spool.events if e.kind == "text_chunk") == "key [redacted] end"


def test_most_of_a_secret_at_the_end_of_a_stream_is_hidden_and_a_little_of_it_shown():
    seen = []
    emit = Recorder("R", sink=None, watchers=[seen.append], secrets=["sk-abc123456"]).step("s1")
    emit(TextDelta(delta="a sk-abc1234", turn=1))
    emit(StepFinished())
    emit(TextDelta(delta="a sk", turn=2))
    emit(StepFinished())
    shown = [(e.turn, e.delta) for e in seen if e.kind == "text_delta"]
    assert shown == [(1, "a "), (1, "[redacted]"), (2, "a "), (2, "sk")]
