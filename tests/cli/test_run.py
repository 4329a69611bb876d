"""`stepsnb run`, as a person and a script see it."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .conftest import COMMAND, FAILING, HELLO, value_of

VARIABLE = """\
jobs:
- name: hello
  plan:
  - task: greet
    run: echo "((word)) ((count))"
"""


def test_run_shows_steps_and_what_they_said(stepsnb, write):
    result = stepsnb("run", str(write("hello.yml", HELLO)))

    assert result.returncode == 0
    assert re.sub(r"run \S+|\d+\.\d s", "…", result.stdout).splitlines() == [
        "job `hello`, …",
        "▶ task `greet`",
        "    hello from the task",
        "✓ task `greet` succeeded, …",
        "job `hello` succeeded",
    ]


def test_failed_step_ends_with_one_and_its_reason(stepsnb, write):
    result = stepsnb("run", str(write("broken.yml", FAILING)))

    assert result.returncode == 1
    assert "exit code 3" in result.stderr


def test_json_is_all_there_is_on_standard_output(stepsnb, write):
    result = stepsnb("run", str(write("hello.yml", HELLO)), "--json")

    value = value_of(result)
    assert value.pop("run_id")
    assert value == {
        "job": "hello",
        "outcome": "succeeded",
        "steps": [
            {
                "name": "greet",
                "kind": "task",
                "outcome": "succeeded",
                "verdict": None,
                "note": None,
                "response": "hello from the task\n",
                "reason": None,
            }
        ],
        "tokens": {"input": 0, "cached_input": 0, "cache_write": 0, "output": 0},
        "cost_usd": 0.0,
        "error": None,
    }
    assert "▶ task `greet`" in result.stderr


def test_load_errors_come_one_a_line_and_end_with_two(stepsnb, write):
    text = HELLO.replace("run: ", "runn: ") + "extra: 1\n"

    result = stepsnb("run", str(write("wrong.yml", text)))

    assert result.returncode == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) >= 2
    assert all(re.match(r"\S*wrong\.yml:\d+:\d+: ", line) for line in lines)


def test_load_error_is_a_json_value_too(stepsnb, write):
    result = stepsnb("run", str(write("wrong.yml", HELLO + "extra: 1\n")), "--json")

    assert result.returncode == 2
    assert value_of(result)["code"] == "config"
    assert value_of(result)["error"] == result.stderr.strip()


def test_missing_file_is_told_without_a_traceback(stepsnb):
    result = stepsnb("run", "nowhere.yml")

    assert result.returncode == 2
    assert "nowhere.yml" in result.stderr
    assert "Traceback" not in result.stderr


def test_unknown_job_is_answered_with_the_jobs_there_are(stepsnb, write):
    result = stepsnb("run", str(write("hello.yml", HELLO)), "--job", "helo")

    assert result.returncode == 2
    assert "unknown job `helo` (did you mean `hello`?); available: hello" in result.stderr


def test_variables_come_from_options_and_a_file_options_first(stepsnb, write):
    vars_file = write("vars.yml", "word: from the file\ncount: 3.10\n")

    result = stepsnb(
        "run", str(write("v.yml", VARIABLE)), "--vars-file", str(vars_file), "--var", "word=from the option"
    )

    assert "    from the option 3.10\n" in result.stdout


def test_missing_variable_is_told_with_how_to_set_it(stepsnb, write):
    result = stepsnb("run", str(write("v.yml", VARIABLE)), "--var", "count=1")

    assert result.returncode == 2
    assert "`((word))` has no value; set it with `--var word=…`" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--var", "word"], "--var `word`: write it as NAME=VALUE"),
        (["--var", "word=a", "--var", "word=b"], "--var `word` is given twice; keep one"),
        (["--answer", "=8443"], "--answer `=8443`: write it as 'part of the question=answer'"),
        (
            ["--answer", "8443", "--answer", "port=1"],
            "--answer: some say `part=text` and some only the text; use one of the two for all",
        ),
    ],
)
def test_option_that_says_nothing_is_refused(stepsnb, write, options, message):
    result = stepsnb("run", str(write("hello.yml", HELLO)), *options)

    assert (result.returncode, result.stderr) == (2, message + "\n")


def test_missing_vars_file_is_refused_with_where_it_was_looked_for(stepsnb, write, folder: Path):
    result = stepsnb("run", str(write("hello.yml", HELLO)), "--vars-file", "none.yml")

    assert result.returncode == 2
    assert result.stderr == f"none.yml: no such file; check the path, it starts at {folder}\n"


def test_vars_file_that_is_no_mapping_is_refused_with_its_place(stepsnb, write):
    write("vars.yml", "- one\n")

    result = stepsnb("run", str(write("hello.yml", HELLO)), "--vars-file", "vars.yml")

    assert result.returncode == 2
    assert (
        result.stderr == "vars.yml:1:1: must be a mapping of names to values, not a list; write `name: value` lines\n"
    )


def test_vars_file_in_another_encoding_is_refused(stepsnb, write, folder: Path):
    (folder / "vars.yml").write_bytes(b"word: caf\xe9\n")

    result = stepsnb("run", str(write("hello.yml", HELLO)), "--vars-file", "vars.yml")

    assert result.returncode == 2
    assert result.stderr == "vars.yml:1:10: byte 0xe9 is not UTF-8; save the file as UTF-8\n"


def test_runs_are_kept_in_the_current_folder_unless_told_otherwise(stepsnb, write, folder: Path):
    path = str(write("hello.yml", HELLO))

    stepsnb("run", path, "--memory")
    assert not (folder / ".steps").exists()
    stepsnb("run", path, "--store", "elsewhere")
    assert not (folder / ".steps").exists()
    stepsnb("run", path)

    assert (folder / ".steps").is_dir()
    assert (folder / "elsewhere").is_dir()


def test_control_characters_never_reach_the_terminal(stepsnb, write):
    text = HELLO.replace("echo hello from the task", r"printf '\033[2Jcleared\007'")

    result = stepsnb("run", str(write("hello.yml", text)))

    assert "␛[2Jcleared␇" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


def test_answer_given_ahead_is_found_by_a_part_of_the_question(stepsnb, asking):
    result = stepsnb("run", str(asking()), "--answer", "WHICH=Bergen")

    assert result.returncode == 0
    assert "    ? Which port? [Tromso | Bergen]\n    → Bergen (given)\n" in result.stdout


def test_answers_without_a_part_are_used_in_order(stepsnb, asking):
    result = stepsnb("run", str(asking()), "--answer", "Bergen")

    assert result.returncode == 0
    assert "    → Bergen (given)\n" in result.stdout


def test_question_without_terminal_takes_its_default(stepsnb, asking):
    result = stepsnb("run", str(asking("default: Tromso")), "--no-wait")

    assert result.returncode == 0
    assert "    → Tromso (default)\n" in result.stdout


def test_question_nobody_can_answer_aborts_and_says_how_to_answer(stepsnb, asking):
    result = stepsnb("run", str(asking()), "--no-wait", "--json")

    assert result.returncode == 130
    assert value_of(result)["outcome"] == "aborted"
    assert "asked `Which port?`" in result.stderr
    assert "`--answer 'Which port=…'`" in result.stderr


def test_each_job_with_an_agent_prints_its_cost(stepsnb, asking):
    result = stepsnb("run", str(asking("default: Tromso")), "--no-wait")

    assert re.search(r"^cost \$0\.0000: [\d,]+ tokens in \(\d+% CACHED\), [\d,]+ out$", result.stdout, re.M)


def test_final_text_of_an_agent_is_shown(stepsnb, asking):
    result = stepsnb("run", str(asking("default: Tromso")), "--no-wait")

    assert "    Noted.\n" in result.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_is_stop_and_leaves_no_process(stepsnb, write, folder: Path, number: signal.Signals):
    path = write("slow.yml", HELLO.replace("echo hello from the task", "echo $$ > pid; sleep 60"))
    pid_file = f"{folder}/pid"
    path.write_text(path.read_text().replace("> pid", f"> {pid_file}"))
    process = subprocess.Popen([COMMAND, "run", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (Path(pid_file).exists() and Path(pid_file).read_text().strip()):
        time.sleep(0.02)
    began = time.monotonic()

    process.send_signal(number)
    out, _ = process.communicate(timeout=20)

    assert process.returncode == 130
    assert time.monotonic() - began < 3
    assert "job `hello` aborted" in out
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path(pid_file).read_text()), 0)
    assert [row["outcome"] for row in value_of(stepsnb("runs", "--json"))] == ["aborted"]


def test_reader_that_leaves_early_is_no_error(stepsnb, write):
    path = write("hello.yml", HELLO.replace("echo hello from the task", "seq 2000"))

    result = subprocess.run(
        ["bash", "-c", f"'{COMMAND}' run '{path}' | head -1"], capture_output=True, text=True, timeout=60
    )

    assert result.stderr == ""


def test_functions_of_the_current_folder_serve_as_tools(stepsnb, write):
    write("harbour.py", 'def depth(port: str) -> int:\n    """Depth in metres."""\n    return 12\n')
    write("s.yml", "version: 1\nreplies:\n- calls: [{name: depth, arguments: {port: Bergen}}]\n- text: Twelve.\n")
    text = """\
agents:
- name: clerk
  source: { model: scripted/s.yml }
  tools: [{ python: "harbour:depth" }]
jobs:
- name: ask
  plan:
  - agent: clerk
    messages: ["How deep?"]
"""

    result = stepsnb("run", str(write("p.yml", text)))

    assert result.returncode == 0
    assert re.search(r"^    depth \{.*Bergen.*\}, \d\.\d s: 12$", result.stdout, re.M)


APPROVAL = """\
jobs:
- name: ship
  plan:
  - approval: { name: release, message: "Ship 1.2 to everybody?" }
  - task: publish
    run: echo published
"""


@pytest.mark.parametrize(
    ("answer", "code", "reason"),
    [
        ("approve", 0, None),
        ("Approved: by the board", 0, None),
        ("reject", 1, "rejected"),
        ("reject: not on a Friday", 1, "rejected: not on a Friday"),
    ],
)
def test_approval_is_given_in_advance(stepsnb, write, answer, code, reason):
    result = stepsnb("run", str(write("ship.yml", APPROVAL)), "--answer", f"ship 1.2={answer}", "--json")

    assert result.returncode == code
    assert value_of(result)["steps"][0]["reason"] == reason
    assert len(value_of(result)["steps"]) == (2 if code == 0 else 1)


def test_answer_that_neither_approves_nor_rejects_is_an_error(stepsnb, write):
    result = stepsnb("run", str(write("ship.yml", APPROVAL)), "--answer", "ship=aprove")

    assert result.returncode == 2
    assert "approval `release`: `aprove` neither approves nor rejects; answer `approve` or `reject`" in result.stderr


def test_approval_nobody_can_give_aborts_and_says_how_to_give_it(stepsnb, write):
    result = stepsnb("run", str(write("ship.yml", APPROVAL)), "--no-wait")

    assert result.returncode == 130
    assert "`Ship 1.2 to everybody?` waits for approval and nobody is here to answer" in result.stderr
    assert "`--answer 'Ship 1.2 to everybody=approve'`" in result.stderr
