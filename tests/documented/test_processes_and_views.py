"""How long a process has to end, a front end to prove itself, and text to be shown and stored."""

import asyncio
import os
import signal
import subprocess
from types import SimpleNamespace

import pytest

from stepsnb.api import RunHandle
from stepsnb.events import TextDelta
from stepsnb.notebook import live
from stepsnb.notebook.live import LiveView
from stepsnb.processes import end_group
from stepsnb.run import Recorder, recorder
from stepsnb.view import Fold
from tests.support.virtual_time import in_virtual_time


@in_virtual_time
async def test_group_has_two_seconds_between_term_and_kill(monkeypatch):
    loop, kill, sent = asyncio.get_running_loop(), os.killpg, []

    def killpg(group, number):
        sent.append((number, loop.time()))
        kill(group, number)

    script = "trap '' TERM; echo ready; while true; do sleep 60; done"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as process:
        process.stdout.readline()
        monkeypatch.setattr(os, "killpg", killpg)
        await end_group(process)
    (began,) = [at for number, at in sent if number == signal.SIGTERM]
    (killed,) = [at for number, at in sent if number == signal.SIGKILL]
    assert killed - began == pytest.approx(2, abs=0.05)


def test_prompt_is_back_three_seconds_after_stop():
    waited = []
    task = SimpleNamespace(result=lambda: signal.raise_signal(signal.SIGINT), cancel=lambda: None, wait=waited.append)
    with pytest.raises(KeyboardInterrupt):
        RunHandle("R", task, None, lambda on_event: None).result()
    assert waited == [3]


# -- the live view


class View:
    """A view that keeps when it was asked to prove itself and when it was sent what changed."""

    def __init__(self, fold, *, on_ready, **callbacks):
        self.prove, self.pings, self.flushes = on_ready, [], []

    def ping(self):
        self.pings.append(asyncio.get_running_loop().time())

    def flush(self):
        self.flushes.append(asyncio.get_running_loop().time())

    def _repr_mimebundle_(self):
        return {}


@pytest.fixture
def opened(monkeypatch):
    """Open a live view of a run on the loop of the test; returns it and the view it shows."""

    def opened():
        loop, views = asyncio.get_running_loop(), []

        def build(*args, **callbacks):
            views.append(View(*args, **callbacks))
            return views[0]

        monkeypatch.setattr("stepsnb.notebook.widgets.run_view.RunView", build)
        monkeypatch.setattr(live, "engine", lambda: SimpleNamespace(start=loop.create_task, call=loop.call_soon))
        monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=loop.time))
        output = SimpleNamespace(run=lambda function, *args: function(*args))
        place = SimpleNamespace(output=output, show=lambda *args, **ids: None)
        shown = LiveView(Fold(), place, on_stop=lambda: None)
        shown.open()
        return shown, views[0]

    return opened


@in_virtual_time
async def test_front_end_is_asked_every_tenth_of_a_second_for_two_seconds(opened):
    shown, view = opened()
    assert not await shown.is_live()
    assert [b - a for a, b in zip(view.pings, view.pings[1:], strict=False)] == pytest.approx([0.1] * 19)
    assert asyncio.get_running_loop().time() - view.pings[0] == pytest.approx(2, abs=0.01)


@in_virtual_time
async def test_changes_are_sent_every_50_to_100_ms(opened):
    shown, view = opened()
    await asyncio.sleep(0)
    view.prove()
    assert await shown.is_live()
    await asyncio.sleep(1)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
        await asyncio.wait([task])
    gaps = [b - a for a, b in zip(view.flushes, view.flushes[1:], strict=False)]
    assert gaps
    assert all(0.05 <= gap <= 0.1 for gap in gaps)


# -- streamed text in the store


@pytest.fixture
def streamed(monkeypatch):
    """Stream pieces of text, each at a time of its own; returns how long the chunks are that are stored."""

    def streamed(*pieces):
        kept = Recorder("R", sink=None)
        emit = kept.step("s1")
        for at, text in pieces:
            monkeypatch.setattr(recorder.time, "time", lambda at=at: at)
            emit(TextDelta(delta=text, turn=1))
        return [len(event.text) for event in kept.events if event.kind == "text_chunk"]

    return streamed


def test_streamed_text_is_stored_after_250_ms(streamed):
    assert streamed((1_000.0, "a"), (1_000.249, "b")) == []
    assert streamed((1_000.0, "a"), (1_000.25, "b")) == [2]


def test_streamed_text_is_stored_at_4_kb(streamed):
    assert streamed((1_000.0, "x" * 4_000), (1_000.0, "x" * 95)) == []
    assert streamed((1_000.0, "x" * 4_000), (1_000.0, "x" * 96)) == [4_096]
