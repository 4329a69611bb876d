"""Pipelines whose resources are reached through tools of an MCP server, from the first get to the end of a watch."""

import json
import sys
import time
from pathlib import Path

import pytest

import stepsnb
from stepsnb.outcome import Outcome

BOARD = Path(__file__).parents[1] / "support" / "mcp_board.py"

READ = """{tool: read_note, args: {number: "{{ .version.n }}", loud: '{{ .params.loud | default "" }}'}}"""
PIPELINE = """
mcp_servers: [{name: board, command: PYTHON, args: [BOARD, NOTES]}]
resource_types:
- name: notice
  mcp:
    server: board
    check: {tool: list_notes, args: {after: '{{ index .version "n" | default "" }}'}}
    in: READ
    out: {tool: post_note, args: {text: "{{ .params.text }}"}}
resources: [{name: notes, type: notice}]
jobs:
- name: read
  plan:
  - {get: notes, trigger: true}
  - {task: show, inputs: [notes], run: cat notes/content.txt}
- name: pinned
  plan:
  - {get: notes, version: {n: 1}, params: {loud: true}}
  - {task: show, inputs: [notes], run: cat notes/content.txt}
- name: after
  plan:
  - {get: notes, passed: [read], trigger: true}
  - {task: show, inputs: [notes], run: cat notes/content.txt}
- name: post
  plan:
  - put: notes
    params: {text: Lost glove}
"""


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate(("Ferry at nine", "Pool closed"), 1):
        (folder / str(number)).write_text(text)
    return folder


@pytest.fixture
def load(notes):
    def load(*changed):
        text = PIPELINE.replace("BOARD", str(BOARD)).replace("NOTES", str(notes))
        for old, new in changed:
            assert old in text
            text = text.replace(old, new)
        return stepsnb.load(text.replace("READ", READ).replace("PYTHON", json.dumps(sys.executable)))

    return load


@pytest.fixture
def run(load):
    return lambda job, *changed: load(*changed).run(job)


def lines(folder, name):
    file = folder.parent / name
    return file.read_text().split() if file.exists() else []


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def reasons(run):
    return [step.reason for step in run.steps]


def test_newest_version_is_fetched_by_one_process_that_is_gone_then(run, notes):
    done = run("read")

    assert (done.outcome, done.text) == (Outcome.SUCCEEDED, "Pool closed")
    (pid,) = lines(notes, "pids")
    assert not is_running(int(pid))


def test_pin_and_parameters_reach_the_tool(run):
    assert run("pinned").text == "FERRY AT NINE"


def test_only_what_passed_a_job_goes_on(run, notes):
    assert "no version has passed `read` yet" in run("after").error
    run("read")
    (notes / "3").write_text("Lost glove")
    assert run("after").text == "Pool closed"


def test_put_publishes_and_knows_its_version(run, notes):
    done = run("post")

    assert done.outcome is Outcome.SUCCEEDED
    assert (notes / "3").read_text() == "Lost glove"
    assert [event.version for event in done.events if event.kind == "resource_version"] == [{"n": "3"}]


def test_kept_version_is_not_fetched_again(run, notes):
    cache = ("resources: [", "workspace: {cache: {resources: true}}\nresources: [")

    assert [run("pinned", cache).text for _ in range(2)] == ["FERRY AT NINE"] * 2
    assert lines(notes, "calls").count("read_note") == 1
    run("pinned", cache, ("params: {loud: true}", "params: {loud: false}"))
    assert lines(notes, "calls").count("read_note") == 2


SHOW = "run: cat notes/content.txt}\n- name: pinned"
COPY = "outputs: [copy], run: cp notes/* copy}\n- name: pinned"


def test_plan_starts_no_server(load, notes):
    plan = stepsnb.plan(load(), "read")

    assert list(plan["action"]) == ["run", "run"]
    assert lines(notes, "pids") == []


def test_step_after_a_get_is_reused_until_another_tool_fetches(run):
    bounded = ("READ", READ.replace("}}}", "}}, timeout: 9s}"))
    louder = ("READ", READ.replace('default ""', 'default "true"'))
    runs = [run("read", (SHOW, COPY), *changed) for changed in ((), (bounded,), (louder,))]

    assert [each.steps[1].outcome for each in runs] == ["succeeded", "reused", "succeeded"]


def test_watch_runs_what_is_new_and_leaves_no_process(load, notes):
    pipeline = load()

    first = stepsnb.watch(pipeline, "read", once=True)
    (notes / "3").write_text("Lost glove")
    second = stepsnb.watch(pipeline, "read", once=True)
    third = stepsnb.watch(pipeline, "read", once=True)

    assert [run.text for run in first] == ["Pool closed", "Pool closed"]
    assert [run.text for run in second] == ["Lost glove", "Lost glove"]
    assert third == []
    assert not any(is_running(int(pid)) for pid in lines(notes, "pids"))


def test_tool_that_says_no_fails_the_step(run, notes):
    (notes / "2").unlink()
    (notes / "1").unlink()
    missing = ("version: {n: 1}", "version: {n: 7}")

    done = run("pinned", missing)

    assert done.outcome is Outcome.FAILED
    assert "resource type `notice`, `in:`: tool `read_note` of MCP server `board` failed: " in reasons(done)[0]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (("list_notes", "list_note"), "`check:`: MCP server `board`: unknown tool `list_note`"),
        (("PYTHON", "no-such-program-of-tests"), "`no-such-program-of-tests` cannot be started"),
        (("{after:", "{aftr:"), "`check:`: tool `list_notes` of MCP server `board`: unknown argument `aftr`"),
        (("READ", "{tool: read_note, args: {number: one}}"), "`args.number`: the tool wants integer there, not `one`"),
    ],
)
def test_what_does_not_fit_the_server_ends_the_step(run, changed, problem):
    done = run("read", changed)

    assert done.outcome is Outcome.ERRORED
    assert problem in done.error or problem in reasons(done)[0]


def test_token_that_is_not_set_is_named(run):
    auth = ("mcp_servers: [{name: board,", "mcp_servers: [{name: board, auth: {type: bearer, api_key_env: NO_TOKEN_T},")

    done = run("read", auth)

    assert done.outcome is Outcome.ERRORED
    assert "NO_TOKEN_T is not set" in done.error + "".join(filter(None, reasons(done)))


def test_problem_of_a_check_is_told_to_who_watches(load):
    told = []

    runs = stepsnb.watch(
        load(("list_notes", "list_note")), "read", once=True, on_problem=lambda *each: told.append(each)
    )

    assert runs == []
    assert "unknown tool `list_note`" in str(told[0])


def test_stop_during_a_call_ends_the_server(load, notes):
    handle = load(("READ", "hang")).start("read")
    began = time.monotonic()
    while "hang" not in lines(notes, "calls"):
        assert time.monotonic() - began < 60
        time.sleep(0.02)

    handle.cancel()
    done = handle.result()

    assert done.outcome is Outcome.ABORTED
    (pid,) = lines(notes, "pids")
    assert not is_running(int(pid))


def test_dead_server_is_started_anew_for_the_next_step(load, notes):
    pipeline = load(
        (
            "- {task: show, inputs: [notes], run: cat notes/content.txt}\n- name: pinned",
            "- {task: kill, run: kill -9 $(cat PIDS)}\n  - {get: again, resource: notes}\n- name: pinned",
        ),
        ("PIDS", str(notes.parent / "pids")),
    )

    done = pipeline.run("read")

    assert done.outcome is Outcome.SUCCEEDED
    assert len(lines(notes, "pids")) == 2
