"""`stepsnb.watch`: runs what is new, and says what cannot be watched."""

import signal
import threading
from threading import Timer

import pytest

import stepsnb
from stepsnb.api.watching import Check, Pause, Start, read_interval, rounds
from stepsnb.errors import InputError, StepsError

PIPELINE = """
resources: [{name: notes, type: path, source: {path: notes}}]
jobs:
- name: build
  plan:
  - {get: notes, trigger: true}
  - {task: count, inputs: [notes], run: "cat notes/*"}
- name: by_hand
  plan: [{task: t, run: echo}]
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("one")
    (tmp_path / "p.yml").write_text(PIPELINE)
    return tmp_path / "p.yml"


class Watched:
    jobs = ("a", "b")
    pause_s = 5.0


def walk(due, *, once, count):
    """The first steps of a watch in which `due` says by turns whether a job is due."""
    answers, done = iter(due), []
    for todo, _ in zip(rounds(Watched(), once=once), range(count), strict=False):
        if isinstance(todo, Check):
            todo.is_due = next(answers)
        done.append(todo)
    return done


def test_a_watch_pauses_only_when_nothing_was_due():
    done = walk([False, True, False, False], once=False, count=6)

    assert done == [Check("a"), Check("b", True), Start("b"), Check("a"), Check("b"), Pause(5.0)]


def test_once_ends_when_nothing_is_due():
    assert walk([False, True, False, False], once=True, count=9)[-1] == Check("b")


def test_watch_returns_the_runs_of_one_look_and_tells_of_each(path):
    told = []

    runs = stepsnb.watch(path, once=True, on_run=told.append)

    assert [run.text for run in runs] == ["one"]
    assert told == runs
    assert stepsnb.watch(stepsnb.load(path), "build", once=True) == []


def test_an_interrupt_ends_the_watch(path):
    Timer(1.5, signal.pthread_kill, [threading.get_ident(), signal.SIGINT]).start()

    with pytest.raises(KeyboardInterrupt):
        stepsnb.watch(path, interval="10m")

    assert stepsnb.runs()["outcome"].tolist() == ["succeeded"]


def test_a_check_that_goes_wrong_is_raised_or_told(path):
    (path.parent / "notes" / "a.txt").unlink()
    (path.parent / "notes").rmdir()
    told = []

    with pytest.raises(StepsError):
        stepsnb.watch(path, once=True)
    assert stepsnb.watch(path, once=True, on_problem=lambda job, problem: told.append(job)) == []
    assert told == ["build"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"job": "buidl"}, "did you mean `build`"),
        ({"job": "by_hand"}, "nothing to watch"),
        ({"interval": "soon"}, "interval `soon`: write it like"),
        ({"interval": "0s"}, "interval `0s`: write it like"),
        ({"memory": True}, "leave `memory` out"),
    ],
)
def test_what_cannot_be_watched_is_refused(path, arguments, message):
    with pytest.raises(InputError, match=message):
        stepsnb.watch(path, once=True, **arguments)


def test_an_interval_is_a_duration_as_pipelines_have_them():
    assert [read_interval(text) for text in ("200ms", "1.5s", "5m", "1h", "")] == [0.2, 1.5, 300.0, 3600.0, 30.0]
