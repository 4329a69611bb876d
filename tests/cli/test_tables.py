"""`runs`, `cost`, `transcript` and `copy`: what a shell sees of the store."""

import re

import pytest

from stepsnb.events import Event, StepFinished, StepStarted, TurnFinished
from stepsnb.store import open_spool
from tests.support.recorded import priced, record

from .conftest import HELLO, value_of

WRITER = """\
agents:
- name: writer
  source: { model: scripted/w.yml }
  tools: [write_file]
jobs:
- name: note
  plan:
  - agent: writer
    outputs: [note]
    messages: ["Write a note."]
"""

SCRIPT = """\
version: 1
replies:
- calls: [{ name: write_file, arguments: { path: note/a.md, content: high water } }]
  usage: { input: 600, cached_input: 400, output: 50 }
- text: "cut \\e[31m off"
  finish_reason: length
  usage: { input: 500, cached_input: 500, output: 10 }
- text: " at last"
  usage: { input: 500, cached_input: 500, output: 10 }
"""


@pytest.fixture
def run_id(stepsnb, write) -> str:
    write("w.yml", SCRIPT)
    result = stepsnb("run", write("note.yml", WRITER).name, "--json")
    return value_of(result)["run_id"]


def test_runs_are_listed_newest_first(stepsnb, write, run_id):
    stepsnb("run", write("hello.yml", HELLO).name)

    result = stepsnb("runs")

    assert result.returncode == 0
    assert re.findall(r"^\S+ +(note|hello) +succeeded +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", result.stdout, re.M) == [
        "hello",
        "note",
    ]


def test_runs_as_json_are_rows_of_the_table(stepsnb, run_id):
    (row,) = value_of(stepsnb("runs", "--json"))

    assert (row["run_id"], row["job"], row["outcome"]) == (run_id, "note", "succeeded")


def test_empty_store_has_no_runs(stepsnb):
    assert stepsnb("runs").stdout == "no runs yet\n"
    assert value_of(stepsnb("runs", "--json")) == []


def test_cost_report_marks_cached_and_truncated(stepsnb, run_id):
    result = stepsnb("cost")

    assert re.search(rf"^{run_id} +note +3,070 +47% +\$0\.0000 +1 +<-- truncated$", result.stdout, re.M)


def test_cost_of_one_run_has_a_row_for_each_agent_step(stepsnb, run_id):
    result = stepsnb("cost", run_id)

    assert re.search(r"^writer +\S+ +3,070 +47% +\$0\.0000 +\d+\.\d s +length <-- truncated$", result.stdout, re.M)


def test_cost_of_one_run_says_how_the_last_reply_ended(stepsnb, write):
    write("w.yml", SCRIPT.replace("finish_reason: length", "finish_reason: content_filter"))
    run = value_of(stepsnb("run", write("note.yml", WRITER).name, "--json"))["run_id"]

    assert stepsnb("cost", run).stdout.splitlines()[1].split()[-1] == "content_filter"


def test_cost_of_an_unknown_run_is_refused(stepsnb, run_id):
    result = stepsnb("cost", run_id[:4])

    assert result.returncode == 2
    assert result.stderr == f"unknown run `{run_id[:4]}` (did you mean `{run_id}`?)\n"


def test_cost_as_json_keeps_the_token_classes_apart(stepsnb, run_id):
    (row,) = value_of(stepsnb("cost", run_id, "--json"))

    assert (row["input_tokens"], row["cached_input_tokens"], row["output_tokens"]) == (1600, 1400, 70)
    assert row["price_source"] == "local"


def test_transcript_is_readable_and_harmless(stepsnb, run_id):
    result = stepsnb("transcript", run_id)

    assert result.returncode == 0
    assert "Write a note." in result.stdout
    assert re.search(r"^\[assistant\] cut \S+\[31m off$", result.stdout, re.M)
    assert re.search(r'^    calls write_file \{.*"note/a.md".*\}$', result.stdout, re.M)
    assert "\x1b" not in result.stdout


def test_transcript_as_json_has_one_row_a_message(stepsnb, run_id):
    rows = value_of(stepsnb("transcript", run_id, "--json"))

    assert [row["role"] for row in rows][:2] == ["system", "user"]


def test_transcript_of_an_unknown_run_is_refused(stepsnb, run_id):
    result = stepsnb("transcript", "r-none")

    assert result.returncode == 2
    assert "r-none" in result.stderr
    assert "Traceback" not in result.stderr


def test_trajectory_lists_the_calls_in_order(stepsnb, run_id):
    result = stepsnb("trajectory", run_id)

    assert result.returncode == 0
    assert re.search(r'^writer +1 +write_file +\{.*"note/a.md".*\} +\d\.\d s$', result.stdout, re.M)


def test_trajectory_as_json_has_one_row_a_call(stepsnb, run_id):
    (row,) = value_of(stepsnb("trajectory", run_id, "--json"))

    assert (row["tool"], row["ok"], row["depth"]) == ("write_file", True, 0)


def test_models_are_reported_with_their_marks(stepsnb, run_id):
    result = stepsnb("models")

    assert result.stdout.splitlines()[0].split()[:3] == ["MODEL", "REQUESTS", "FAILED"]
    assert re.search(r"^scripted/w.yml +3 +0 +1 +3 +1 +0 +1 truncated$", result.stdout, re.M)


def test_models_as_json_are_rows_of_the_table(stepsnb, run_id):
    (row,) = value_of(stepsnb("models", run_id, "--json"))

    assert (row["model"], row["truncated"], row["marked_rate"]) == ("scripted/w.yml", 1, pytest.approx(1 / 3))


def test_empty_store_knows_no_model(stepsnb):
    assert stepsnb("models").stdout == "no model has been used yet\n"
    assert value_of(stepsnb("models", "--json")) == []


def test_cost_of_steps_of_one_name_is_told_apart_and_a_sub_agents_below(stepsnb, folder):
    steps = [{"step_id": f"s{number}", "name": "write"} for number in (1, 2)]
    events: list[Event] = []
    for step, finish_reason in zip(steps, ("stop", "length"), strict=True):
        events += [
            StepStarted(**step, step_kind="agent", agent="writer"),
            priced(step_id=step["step_id"]),
            TurnFinished(step_id=step["step_id"], turn=1, finish_reason=finish_reason),
            StepFinished(**step, step_kind="agent", outcome="succeeded", duration_s=len(events) + 1),
        ]
    helper = StepStarted(step_id="s2.1", name="helper", step_kind="sub_agent", parent_id="s2")
    record(folder / ".steps", "r1", [*events, helper, priced(step_id="s2.1")])
    open_spool(folder / ".steps").close()

    lines = stepsnb("cost", "r1").stdout.splitlines()[1:]

    assert [re.split("  +", line) for line in lines] == [
        ["write", "m/large", "12,800", "75%", "$0.0142", "1.0 s", "stop"],
        ["write", "m/large", "12,800", "75%", "$0.0142", "5.0 s", "length <-- truncated"],
        ["· helper", "m/large", "12,800", "75%", "$0.0142"],
    ]
    assert re.search(r"^r1 .* 2 +<-- truncated$", stepsnb("cost").stdout, re.M), "steps of the plan are counted"


def test_copy_brings_an_artifact_into_the_folder(stepsnb, run_id, folder):
    result = stepsnb("copy", run_id, "note", "out")

    assert result.returncode == 0
    assert (folder / "out" / "a.md").read_text() == "high water"
    assert result.stdout.endswith("out/a.md\n")


def test_copy_overwrites_nothing_unless_forced(stepsnb, run_id, folder):
    (folder / "note").mkdir()
    (folder / "note" / "a.md").write_text("mine")

    refused = stepsnb("copy", run_id, "note")
    assert (refused.returncode, (folder / "note" / "a.md").read_text()) == (2, "mine")
    forced = stepsnb("copy", run_id, "note", "--force", "--json")

    assert (folder / "note" / "a.md").read_text() == "high water"
    assert len(value_of(forced)["copied"]) == 1


def test_copy_of_an_unknown_artifact_names_what_there_is(stepsnb, run_id):
    result = stepsnb("copy", run_id, "notes")

    assert result.returncode == 2
    assert "unknown artifact `notes` (did you mean `note`?); available: note" in result.stderr
