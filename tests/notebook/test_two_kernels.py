"""Two kernels on one store while both run."""

import os
import signal
import time

from .kernel import Kernel, running_kernel

LOAD = """
import stepsnb
pipeline = stepsnb.load('''
jobs:
- name: NAME
  plan:
  - task: count
    run: for i in $(seq 30); do echo $i; sleep 0.05; done
''')
handles = []
"""
BUSY = "handles += [pipeline.start() for _ in range(5)]"
SETTLE = "[handle.result().outcome.value for handle in handles]"
STORED = """
{(job, kind): int(n) for job, kind, n in stepsnb.sql(
    'select r.job, e.kind, count(*) from events e join runs r using (run_id) group by all').itertuples(index=False)}
"""


def start(kernel: Kernel, name: str) -> None:
    assert kernel.run(LOAD.replace("NAME", name)).error is None
    assert kernel.run(BUSY).error is None


def read_until(kernel: Kernel, wanted: dict[tuple[str, str], int]) -> tuple[dict[tuple[str, str], int], float]:
    """Read the store until it holds what is wanted; return the last reading and how long that took."""
    began = time.monotonic()
    while True:
        read = kernel.run(STORED)
        assert read.error is None
        stored = eval(read.result)
        took = time.monotonic() - began
        if wanted.items() <= stored.items() or took > 10:
            return stored, took


def test_both_read_every_event_of_both_while_both_run_and_after(tmp_path):
    with running_kernel(tmp_path) as first, running_kernel(tmp_path) as second:
        start(first, "one")
        start(second, "two")
        running = {(job, "step_started"): 5 for job in ("one", "two")}
        for kernel in (first, second):
            stored, took = read_until(kernel, running)
            assert running.items() <= stored.items()
            assert took < 5
        for kernel in (first, second):
            assert eval(kernel.run(SETTLE).result) == ["succeeded"] * 5
        finished = {(job, kind): 5 for job in ("one", "two") for kind in ("step_finished", "run_finished")}
        for kernel in (first, second):
            stored, took = read_until(kernel, finished)
            assert finished.items() <= stored.items()
            assert took < 5


def test_readers_of_two_kernels_never_meet_a_lock_error(tmp_path):
    loop = "for _ in range(15): n = len(stepsnb.runs())\nn"
    with running_kernel(tmp_path) as first, running_kernel(tmp_path) as second:
        start(first, "one")
        start(second, "two")
        requests = [(kernel, kernel.start(loop)) for kernel in (first, second)]
        for kernel, request in requests:
            executed = kernel.finish(request, timeout_s=60)
            assert executed.error is None
        assert eval(first.run(SETTLE).result) == eval(second.run(SETTLE).result) == ["succeeded"] * 5
        assert first.run("len(stepsnb.runs())").result == "10"


ASK = """
import stepsnb
pipeline = stepsnb.load('''
agents:
- name: asker
  source: {model: scripted/ask.yml}
  tools: [ask_user]
jobs:
- name: ask
  plan:
  - {agent: asker, prompt: Ask.}
  - {task: after, run: echo after}
''')
handle = pipeline.start(parks=True)
"""
OPEN = "(lambda rows: rows[rows['answered_at'].isna()]['id'].tolist())(stepsnb.questions())"


def test_question_of_a_killed_kernel_is_answered_in_another_one_which_resumes_its_run(tmp_path):
    (tmp_path / "ask.yml").write_text(
        "version: 1\nreplies:\n- calls: [{name: ask_user, arguments: {question: 'Which port?'}}]\n"
        "- {expect: Oslo, text: Noted.}\n"
    )
    with running_kernel(tmp_path) as first, running_kernel(tmp_path) as second:
        assert first.run(ASK).error is None
        assert second.run("import stepsnb").error is None
        give_up_at = time.monotonic() + 30
        while not (asked := eval(second.run(OPEN).result)):
            assert time.monotonic() < give_up_at
            time.sleep(0.1)
        os.kill(first.pid, signal.SIGKILL)
        assert eval(second.run(OPEN).result) == asked

        answered = second.run(f"%load_ext stepsnb\n%steps answer {asked[0]} Oslo")
        assert answered.printed == f"answered {asked[0]}: Oslo\n"
        resumed = second.run("run = stepsnb.resume(stepsnb.runs()['run_id'][0])\n(run.outcome.value, run.text)")
        assert eval(resumed.result) == ("succeeded", "Noted.")
        assert eval(second.run("stepsnb.questions()['answer'].tolist()").result) == ["Oslo"]
