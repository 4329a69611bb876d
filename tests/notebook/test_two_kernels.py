"""Two kernels on one store while both run."""

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
