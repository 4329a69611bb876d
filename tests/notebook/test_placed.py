"""The live view as a widget among others."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import stepsnb
from stepsnb.errors import InputError

_ASKS = "jobs:\n- name: ask\n  plan:\n  - { task: before, run: echo hi }\n  - approval: { message: Go? }\n"


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(400):
        if is_so():
            return
        time.sleep(0.05)
    raise TimeoutError


def state_of(view) -> dict:  # type: ignore[no-untyped-def]
    return view._fold.state


def test_a_view_that_comes_late_shows_what_was_before_and_what_comes(tmp_path: Path) -> None:
    handle = stepsnb.load(_ASKS).start(store=tmp_path / "store", parks=True)
    wait_until(lambda: not stepsnb.approvals(store=tmp_path / "store").empty)

    with contextlib.closing(stepsnb.live_view(handle)) as view:
        wait_until(lambda: state_of(view)["status"] != "starting")
        assert [step["status"] for step in state_of(view)["steps"]] == ["succeeded", "waiting"]

        [question] = stepsnb.approvals(store=tmp_path / "store")["id"]
        view._receive(view, {"t": "answer", "id": question, "value": "approve"}, [])
        assert handle.result().outcome == "succeeded"
        wait_until(lambda: state_of(view)["outcome"] == "succeeded")


def test_two_views_show_the_same_and_either_stops_the_run(tmp_path: Path) -> None:
    handle = stepsnb.load("jobs: [{name: j, plan: [{task: t, run: sleep 60}]}]").start(store=tmp_path / "store")

    with contextlib.closing(stepsnb.live_view(handle)) as one, contextlib.closing(stepsnb.live_view(handle)) as other:
        wait_until(lambda: state_of(one)["status"] == "running")
        other._receive(other, {"t": "stop"}, [])

        assert handle.result().outcome == "aborted"
        wait_until(lambda: state_of(one)["outcome"] == "aborted")
        assert state_of(one) == state_of(other)


def test_a_run_that_has_ended_is_shown_as_it_was(tmp_path: Path) -> None:
    run = stepsnb.load("jobs: [{name: j, plan: [{task: t, run: echo hi}]}]").run(store=tmp_path / "store")

    with contextlib.closing(stepsnb.live_view(run)) as view:
        assert state_of(view)["outcome"] == "succeeded"


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(InputError, match="give a run or the handle of one, not str"):
        stepsnb.live_view("R")  # type: ignore[arg-type]
