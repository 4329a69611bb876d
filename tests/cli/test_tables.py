"""`runs`, `cost`, `transcript` and `copy`: what a shell sees of the store."""

import re

import pytest

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

    assert re.search(rf"^{run_id} +note +2,060 +45% +\$0\.0000 +1 +<-- truncated$", result.stdout, re.M)


def test_cost_of_one_run_has_a_row_for_each_agent_step(stepsnb, run_id):
    result = stepsnb("cost", run_id)

    assert re.search(r"^writer +\S+ +2,060 +45% +\$0\.0000 +\d+\.\d s +length <-- truncated$", result.stdout, re.M)


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

    assert (row["input_tokens"], row["cached_input_tokens"], row["output_tokens"]) == (1100, 900, 60)
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
