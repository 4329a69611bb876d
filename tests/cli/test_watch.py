"""`stepsnb watch`."""

import signal
import subprocess
import time

import pytest

from .conftest import COMMAND, HELLO, value_of

PIPELINE = """\
resource_types:
- {{ name: ticker, check: "cat {folder}/ticks.json", in: "echo {{{{ .version.n }}}} > n" }}
resources:
- {{ name: ticks, type: ticker }}
- {{ name: notes, type: path, source: {{ path: notes }} }}
jobs:
- name: ship
  plan:
  - {{ get: ticks, trigger: true, passed: [build] }}
- name: build
  plan:
  - {{ get: ticks, trigger: true, version: every }}
- name: publish
  plan:
  - {{ get: notes, trigger: true }}
- name: by_hand
  plan:
  - {{ get: ticks }}
"""


@pytest.fixture
def path(folder, write):
    write("ticks.json", '[{"n": "1"}]')
    (folder / "notes").mkdir()
    write("notes/a.txt", "one")
    return write("p.yml", PIPELINE.format(folder=folder))


def jobs_of(result):
    assert result.returncode == 0, result.stderr
    return [run["job"] for run in value_of(result)["runs"]]


def test_first_look_runs_what_has_never_run_each_job_after_those_it_waits_for(stepsnb, path):
    assert jobs_of(stepsnb("watch", str(path), "--once", "--json")) == ["build", "ship", "publish"]


def test_nothing_new_runs_nothing(stepsnb, path):
    stepsnb("watch", str(path), "--once")

    assert jobs_of(stepsnb("watch", str(path), "--once", "--json")) == []


def test_every_new_version_runs_its_job_and_those_it_goes_on_to(stepsnb, path, write):
    stepsnb("watch", str(path), "--once")
    write("ticks.json", '[{"n": "1"}, {"n": "2"}, {"n": "3"}]')

    assert jobs_of(stepsnb("watch", str(path), "build", "--once", "--json")) == ["build", "ship", "build", "ship"]


def test_changed_folder_is_a_new_version(stepsnb, path, write):
    stepsnb("watch", str(path), "--once")
    write("notes/a.txt", "two")

    assert jobs_of(stepsnb("watch", str(path), "--once", "--json")) == ["publish"]


def test_check_that_fails_is_told_and_the_others_go_on(stepsnb, path, folder):
    (folder / "ticks.json").unlink()

    result = stepsnb("watch", str(path), "--once", "--json")

    assert result.returncode == 2
    assert "job `build`: " in result.stderr
    assert [run["job"] for run in value_of(result)["runs"]] == ["publish"]


def test_job_whose_get_fails_is_not_run_over_and_over(stepsnb, path, write):
    write("p.yml", path.read_text().replace("echo {{ .version.n }} > n", "exit 1"))

    result = stepsnb("watch", str(path), "build", "--once", "--json")

    assert result.returncode == 1
    assert [run["job"] for run in value_of(result)["runs"]] == ["build"]


def test_pipeline_that_waits_for_nothing_is_refused(stepsnb, write):
    result = stepsnb("watch", str(write("hello.yml", HELLO)), "--once")

    assert result.returncode == 2
    assert "nothing to watch; write `trigger: true` in the `get` steps that jobs wait for" in result.stderr


def test_interval_is_a_duration(stepsnb, path):
    result = stepsnb("watch", str(path), "--interval", "soon")

    assert (result.returncode, result.stderr) == (2, "--interval `soon`: write it like `30s`, `5m` or `1h`\n")


def test_interrupt_ends_it_between_two_checks(path, folder):
    process = subprocess.Popen(
        [COMMAND, "watch", str(path), "publish", "--interval", "1h"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while "job `publish` succeeded" not in process.stdout.readline():
        assert process.poll() is None
    time.sleep(0.5)

    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "Traceback" not in errors


def test_resource_that_is_never_checked_starts_nothing(stepsnb, path, write):
    write("p.yml", path.read_text().replace("type: ticker }", "type: ticker, check_every: never }"))

    assert jobs_of(stepsnb("watch", str(path), "--once", "--json")) == ["publish"]


def test_pinned_resource_runs_its_jobs_once_whatever_is_newer(stepsnb, path, write):
    text = path.read_text().replace("type: ticker }", 'type: ticker, version: { n: "1" } }')
    write("p.yml", text.replace(", version: every", ""))
    stepsnb("watch", str(path), "build", "--once")
    write("ticks.json", '[{"n": "1"}, {"n": "2"}]')

    assert jobs_of(stepsnb("watch", str(path), "build", "--once", "--json")) == []


@pytest.mark.parametrize(
    ("interruptible", "signals", "outcome"),
    [(False, 1, "succeeded"), (False, 2, "aborted"), (True, 1, "aborted")],
)
def test_first_stop_waits_for_the_run_of_a_job_that_is_not_interruptible(
    write, folder, interruptible, signals, outcome
):
    (folder / "notes").mkdir()
    job = (
        f"jobs:\n- name: slow\n  interruptible: {str(interruptible).lower()}\n"
        "  plan:\n  - {get: notes, trigger: true}\n"
        f"  - {{task: wait, run: 'touch {folder}/begun; sleep 3'}}\n"
    )
    path = write("slow.yml", f"resources: [{{name: notes, type: path, source: {{path: notes}}}}]\n{job}")
    process = subprocess.Popen(
        [COMMAND, "watch", str(path)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    give_up_at = time.monotonic() + 60
    while not (folder / "begun").exists():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)

    for _ in range(signals):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    printed, errors = process.communicate(timeout=30)

    assert process.returncode == 130
    assert f"job `slow` {outcome}" in printed
    assert ("stop again to end it now" in errors) == (not interruptible)
