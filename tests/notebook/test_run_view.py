import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from anywidget import AnyWidget

from stepsnb.events import RunStarted, TextDelta
from stepsnb.notebook.widgets import RunView
from stepsnb.view import Fold, apply_patches
from tests.support.sample_run import QUESTION_ID, until_question


class Kernel:
    """A widget over a fold, what it sent, and what it handed on."""

    def __init__(self) -> None:
        self.fold = Fold()
        self.sent: list[dict[str, Any]] = []
        self.called: list[tuple[object, ...]] = []
        self.view = RunView(
            self.fold,
            on_stop=lambda: self.called.append(("stop", threading.current_thread().name)),
            on_answer=lambda question_id, text: self.called.append(("answer", question_id, text)),
            on_ready=lambda: self.called.append(("ready",)),
        )
        self.view.send = self.sent.append

    def receive(self, message: object) -> None:
        """Deliver a message as the comm does."""
        self.view._handle_custom_msg(message, [])


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    kernel = Kernel()
    with contextlib.closing(kernel.view):
        yield kernel


def test_a_ping_asks_the_front_end_to_prove_itself(kernel):
    kernel.view.ping()

    assert kernel.sent == [{"t": "ping"}]


def test_nothing_is_sent_when_nothing_changed(kernel):
    kernel.view.flush()

    assert kernel.sent == []


def test_changes_are_sent_in_numbered_batches(kernel):
    kernel.fold.apply(RunStarted(job="hello"))
    kernel.view.flush()
    kernel.fold.apply(TextDelta(step_id="s1", turn=1, delta="Hi"))
    kernel.view.flush()

    assert [(message["t"], message["n"]) for message in kernel.sent] == [("patch", 1), ("patch", 2)]
    assert {"op": "set", "path": ["job"], "value": "hello"} in kernel.sent[0]["patches"]


def test_a_view_that_asks_gets_the_state_after_the_changes_it_contains(kernel):
    kernel.fold.apply(RunStarted(job="hello"))

    kernel.receive({"t": "view"})

    assert [(message["t"], message["n"]) for message in kernel.sent] == [("patch", 1), ("state", 1)]
    assert kernel.sent[1]["state"] == kernel.fold.state
    assert kernel.sent[1]["now"] > 1_700_000_000


def test_whoever_follows_the_batches_has_the_state_of_a_view_that_came_late(kernel):
    early = Fold().state
    for event in until_question(began=1.0):
        kernel.fold.apply(event)
        kernel.view.flush()
    kernel.receive({"t": "view"})

    for message in kernel.sent[:-1]:
        apply_patches(early, message["patches"])
    assert early == kernel.sent[-1]["state"]


@pytest.mark.parametrize("proof", ["ready", "pong"])
def test_a_front_end_that_talks_back_is_ready(kernel, proof):
    kernel.receive({"t": proof})

    assert kernel.called == [("ready",)]


def test_a_view_that_asks_whether_the_kernel_is_there_is_told(kernel):
    kernel.receive({"t": "hello"})

    assert kernel.sent == [{"t": "hello"}]


def test_stop_is_handed_on_from_the_thread_it_came_on(kernel):
    thread = threading.Thread(target=kernel.receive, args=({"t": "stop"},), name="subshell")
    thread.start()
    thread.join()

    assert kernel.called == [("stop", "subshell")]


def test_an_answer_is_handed_on_as_it_was_offered(kernel):
    for event in until_question(began=1.0):
        kernel.fold.apply(event)

    kernel.receive({"t": "answer", "id": QUESTION_ID, "value": "minor"})
    kernel.receive({"t": "answer", "id": QUESTION_ID, "value": "1.5.0"})

    assert kernel.called == [("answer", QUESTION_ID, "minor"), ("answer", QUESTION_ID, "1.5.0")]


@pytest.mark.parametrize(
    "message", ["stop", None, {}, {"t": "other"}, {"t": "answer", "id": 1, "value": "x"}, {"t": "answer", "id": "q"}]
)
def test_a_message_that_means_nothing_does_nothing(kernel, message):
    kernel.receive(message)

    assert (kernel.called, kernel.sent) == ([], [])


def test_batches_from_two_threads_keep_their_order(kernel):
    def flush() -> None:
        for _ in range(200):
            kernel.fold.apply(TextDelta(step_id="s1", turn=1, delta="x"))
            kernel.view.flush()

    threads = [threading.Thread(target=flush) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        kernel.view.show()
    for thread in threads:
        thread.join()

    twin = Fold().state
    n = 0
    for message in kernel.sent:
        if message["t"] == "patch":
            n += 1
            apply_patches(twin, message["patches"])
        assert message["n"] == n
        if message["t"] == "state":
            assert message["state"] == twin
    assert twin == kernel.fold.state


def test_replies_go_where_the_front_end_says():
    class Comm:
        def _reply_subshell_for(self, data: object, default: object) -> str:
            return "the busy one"

    from stepsnb.notebook.widgets.routing import let_front_end_route

    comm = Comm()
    let_front_end_route(comm)
    let_front_end_route(None)

    assert comm._reply_subshell_for({"content": {"id": "q1"}}, "the free one") == "the free one"


def test_the_widget_has_no_traits_of_its_own(kernel):
    plain = AnyWidget()
    with contextlib.closing(plain):
        assert set(kernel.view.trait_names()) - set(plain.trait_names()) == {"_css"}
    assert "export default { initialize, render };" in kernel.view._esm
    assert ".stepsnb-run" in kernel.view._css


def test_the_front_end_fetches_nothing_and_parses_no_markup(kernel):
    script = kernel.view._esm

    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "import(", "fetch("):
        assert forbidden not in script
    assert "http" not in script
    assert "url(" not in kernel.view._css
    assert "@import" not in kernel.view._css


def test_loading_the_notebook_package_loads_no_widget():
    code = "import sys, stepsnb.notebook; print([m for m in ('anywidget', 'ipywidgets') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
