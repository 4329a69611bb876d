"""Questions that are answered from another process: the first answer wins, and none is lost, stale or used twice."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import stepsnb
from stepsnb.errors import InputError
from stepsnb.people import Mailbox

COMMAND = [sys.executable, "-m", "stepsnb.cli.main"]

SCRIPT = """version: 1
replies:
- calls: [{name: ask_user, arguments: {question: 'Which port?', options: [Bergen, Oslo]}}]
- {expect: answered, text: Noted.}
"""


@pytest.fixture
def write(tmp_path):
    """Write a pipeline whose agent asks, and then a task runs."""

    def write(grant=None, plan=None, script=SCRIPT, **agent):
        (tmp_path / "ask.yml").write_text(script)
        tools = [{"builtin": "ask_user", **(grant or {})}]
        agents = [{"name": "asker", "source": {"model": "scripted/ask.yml"}, "tools": tools, **agent}]
        steps = plan or [{"agent": "asker", "prompt": "Ask."}, {"task": "after", "run": "echo after"}]
        path = tmp_path / "job.yml"
        path.write_text(json.dumps({"agents": agents, "jobs": [{"name": "job", "plan": steps}]}))
        return path

    return write


def wait_for_question(store, number=1):
    """Return the ids of the questions that are open, once there are so many."""
    give_up_at = time.monotonic() + 60
    while time.monotonic() < give_up_at:
        rows = stepsnb.questions(store=store) if (store / "spool").exists() else None
        if rows is not None and (found := rows[rows["answered_at"].isna()]["id"].tolist()) and len(found) >= number:
            return found
        time.sleep(0.1)
    raise AssertionError("nobody was asked")


def shell(*args, **options):
    return subprocess.run([*COMMAND, *args], capture_output=True, text=True, timeout=60, **options)


@pytest.fixture
def parked(store):
    """Start a run in a shell without a terminal; what it prints is read at its end."""
    started = []

    def parked(path, *args):
        process = subprocess.Popen(
            [*COMMAND, "run", str(path), "--store", str(store), *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield parked
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_run_without_a_terminal_waits_and_prints_what_answers_it(write, parked, store):
    process = parked(write())
    (question,) = wait_for_question(store)
    listed = json.loads(shell("questions", "--store", str(store), "--json").stdout)
    assert [(row["id"], row["agent"], row["question"], row["options"], row["answer"]) for row in listed] == [
        (question, "asker", "Which port?", ["Bergen", "Oslo"], None)
    ]
    answered = shell("answer", question, "2", "--store", str(store))
    assert (answered.returncode, answered.stdout) == (0, f"answered {question}: Oslo\n")
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"answer it with `stepsnb answer {question} TEXT`, the run waits 5m" in printed
    (row,) = json.loads(shell("questions", "--store", str(store), "--json").stdout)
    assert (row["answer"], row["source"]) == ("Oslo", "mailbox")


def test_second_answer_is_refused_and_says_who_was_first(write, parked, store):
    process = parked(write())
    (question,) = wait_for_question(store)
    assert shell("answer", question, "Oslo", "--store", str(store)).returncode == 0
    late = shell("answer", question, "Bergen", "--store", str(store))
    assert late.returncode == 2
    assert f"question {question} was answered `Oslo` before (" in late.stderr
    process.communicate(timeout=60)
    again = shell("answer", question, "Bergen", "--store", str(store))
    assert (again.returncode, "was answered `Oslo` before" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("answer", "QUESTION", "Rome"), "`Rome` was not offered; answer one of `Bergen`, `Oslo`"),
        (("answer", "nobody-1", "x"), "there is no question nobody-1"),
        (("answer", "../../etc/passwd", "x"), "there is no question"),
        (("approve", "QUESTION"), "is no approval"),
    ],
)
def test_answer_that_cannot_be_is_refused_and_the_question_stays_open(write, parked, store, args, words):
    parked(write({"options_required": True}))
    (question,) = wait_for_question(store)
    result = shell(*(question if arg == "QUESTION" else arg for arg in args), "--store", str(store))
    assert (result.returncode, words in result.stderr) == (2, True), result.stderr
    assert wait_for_question(store) == [question]


def test_nobody_answers_in_time(write, parked, store):
    process = parked(write({"timeout": "1s"}))
    process.communicate(timeout=60)
    assert process.returncode == 130
    question = stepsnb.questions(store=store)["id"][0]
    with pytest.raises(InputError, match="has expired"):
        stepsnb.answer(question, "Oslo", store=store)


def test_default_is_used_when_nobody_answers_in_time(write, parked, store):
    process = parked(write({"timeout": "1s", "default": "Bergen"}))
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert stepsnb.questions(store=store)["source"].tolist() == ["default"]


def test_no_wait_asks_nobody(write, parked, store):
    process = parked(write(), "--no-wait")
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_question_survives_its_process_and_the_resumed_run_uses_the_answer(write, parked, store):
    process = parked(write())
    (question,) = wait_for_question(store)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert stepsnb.answer(question, "Oslo", store=store) == "Oslo"
    assert stepsnb.questions(store=store)["answer"].tolist() == ["Oslo"]
    run_id = stepsnb.runs(store=store)["run_id"][0]

    run = stepsnb.resume(run_id, store=store)

    assert (run.outcome, run.error) == ("succeeded", None)
    told = next(event.result for event in run.events if event.kind == "tool" and event.phase == "end")
    assert json.loads(told) == {"answered": True, "answer": "Oslo", "source": "mailbox"}
    assert len(stepsnb.questions(store=store)) == 1


APPROVAL = [{"approval": {"message": "Ship it?"}}, {"task": "ship", "run": "echo shipped"}]


@pytest.mark.parametrize(("verb", "outcome", "code"), [("approve", "succeeded", 0), ("reject", "failed", 1)])
def test_approval_is_given_from_elsewhere_with_a_reason(write, parked, store, verb, outcome, code):
    process = parked(write(plan=APPROVAL))
    (approval,) = wait_for_question(store)
    assert stepsnb.approvals(store=store)["id"].tolist() == [approval]
    assert shell(verb, approval, "--reason", "on a Friday", "--store", str(store)).returncode == 0
    process.communicate(timeout=60)
    assert process.returncode == code
    assert stepsnb.approvals(store=store)["answer"].tolist() == [f"{verb}: on a Friday"]


def test_approval_of_a_killed_run_is_used_once_when_it_is_resumed(write, parked, store):
    process = parked(write(plan=[*APPROVAL, {"task": "gate", "run": "test -e flag"}]))
    (approval,) = wait_for_question(store)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    stepsnb.approve(approval, store=store)
    run = stepsnb.resume(stepsnb.runs(store=store)["run_id"][0], store=store)
    assert [(step.name, str(step.outcome)) for step in run.steps] == [
        (run.steps[0].name, "succeeded"), ("ship", "succeeded"), ("gate", "failed"),
    ]  # fmt: skip


def test_person_here_is_called_off_when_somebody_elsewhere_was_first(write, store):
    class Slow:
        asked = threading.Event()
        was_called_off = False

        async def ask(self, question):
            import asyncio

            self.asked.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.was_called_off = True
                raise

    asker = Slow()
    handle = stepsnb.load(write()).start(store=store, asker=asker)
    assert asker.asked.wait(30)
    stepsnb.answer(f"{handle.run_id}-1", "Oslo", store=store)
    run = handle.result()
    assert (run.outcome, asker.was_called_off) == ("succeeded", True)


def test_same_question_is_asked_once_in_a_run_whatever_step_asks(write, store, tmp_path):
    cells = {"agent": "asker", "prompt": "Ask {{ .vars.n }}.", "across": [{"var": "n", "values": ["1", "2", "3"]}]}
    cells["max_in_flight"] = 3
    asked = []

    class Person:
        async def ask(self, question):
            import asyncio

            from stepsnb.people import Answer

            asked.append(question.text)
            await asyncio.sleep(0.2)
            return Answer("Oslo", "prompt")

    loaded = stepsnb.load(write(plan=[cells, {"agent": "asker", "prompt": "Ask again."}], max_questions=1))
    run = loaded.run(store=store, asker=Person())
    assert (run.outcome, asked) == ("succeeded", ["Which port?"])
    answers = [event.result for event in run.events if event.kind == "tool" and event.phase == "end"]
    assert len(answers) == 4
    assert all('"answer":"Oslo"' in answer for answer in answers)
    loaded.run(store=store, asker=Person())
    assert asked == ["Which port?"] * 2, "another run asks again"


def test_answer_in_advance_that_was_not_offered_is_an_error(write, store):
    run = stepsnb.load(write({"options_required": True})).run(store=store, answers={"port": "Rome"})
    assert run.outcome == "errored"
    assert "the answer given in advance, `Rome`, was not offered; give `Bergen`, `Oslo`" in run.error


def test_of_a_hundred_races_each_has_one_winner(tmp_path):
    mailbox = Mailbox(tmp_path)
    for number in range(100):
        results, start = {}, threading.Barrier(2)

        def post(who, number=number, results=results, start=start):
            start.wait()
            results[who] = mailbox.post(f"R-{number}", who, who)

        threads = [threading.Thread(target=post, args=(who,)) for who in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (winner,) = [who for who, earlier in results.items() if earlier is None]
        (loser,) = [who for who in results if who != winner]
        assert results[loser].answer == winner == mailbox.read(f"R-{number}").answer


def test_run_uses_the_answer_that_won_of_two_processes(write, parked, store):
    process = parked(write())
    (question,) = wait_for_question(store)
    rivals = [
        subprocess.Popen([*COMMAND, "answer", question, answer, "--store", str(store)], stderr=subprocess.PIPE)
        for answer in ("Oslo", "Bergen")
    ]
    codes = [rival.wait(60) for rival in rivals]
    for rival in rivals:
        rival.communicate()
    assert sorted(codes) == [0, 2]
    process.communicate(timeout=60)
    assert stepsnb.questions(store=store)["answer"].tolist() == [("Oslo", "Bergen")[codes.index(0)]]


@pytest.mark.parametrize(
    ("answer", "words"),
    [(3, "an answer is a text, not int"), (None, "not NoneType"), ("\udcff", "half of a character")],
)
def test_answer_that_is_no_text_is_refused_and_the_question_stays_open(write, parked, store, answer, words):
    process = parked(write())
    (question,) = wait_for_question(store)
    with pytest.raises(InputError, match=words):
        stepsnb.answer(question, answer, store=store)
    with pytest.raises(InputError, match="there is no question 3"):
        stepsnb.answer(3, "Oslo", store=store)
    assert stepsnb.answer(question, "Oslo", store=store) == "Oslo"
    process.communicate(timeout=60)
    assert process.returncode == 0
