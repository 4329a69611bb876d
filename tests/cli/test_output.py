"""Standard streams that are closed or full, and arguments that are no text."""

import json
import subprocess
from pathlib import Path

import pytest

from .conftest import COMMAND, HELLO, value_of


@pytest.fixture
def shell(write, folder: Path):
    """Run a line of shell beside `hello.yml`; `$S` is the command."""
    write("hello.yml", HELLO)

    def run(line: str) -> subprocess.CompletedProcess[bytes]:
        environment = {"S": COMMAND, "PATH": "/usr/bin:/bin", "HOME": str(folder)}
        return subprocess.run(["bash", "-c", line], capture_output=True, cwd=folder, env=environment, timeout=60)

    return run


def test_closed_standard_output_is_refused_before_anything_runs(shell, folder: Path):
    result = shell("$S run hello.yml >&-")

    assert result.returncode == 2
    assert result.stderr == b"standard output is closed; send it somewhere, for example to `/dev/null`\n"
    assert not (folder / ".steps").exists()


def test_closed_standard_error_takes_nothing_from_a_run(shell):
    result = shell("$S run hello.yml --json 2>&-")

    assert result.returncode == 0
    assert json.loads(result.stdout)["outcome"] == "succeeded"


def test_closed_standard_error_leaves_the_exit_code_of_an_error(shell):
    assert shell("$S run none.yml 2>&-").returncode == 2


def test_closed_standard_input_asks_nobody(shell):
    assert shell("$S run hello.yml <&-").returncode == 0


@pytest.mark.parametrize("verb", ["run hello.yml --json", "run hello.yml", "runs --json", "validate hello.yml"])
def test_full_standard_output_is_told_in_one_line(shell, verb):
    result = shell(f"$S {verb} >/dev/full")

    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == (
        b"cannot write to standard output: No space left on device; send it somewhere else"
    )
    assert b"Traceback" not in result.stderr
    assert b"Exception ignored" not in result.stderr


def test_a_run_goes_on_when_nobody_can_see_it(shell, stepsnb):
    shell("$S run hello.yml >/dev/full")

    assert [row["outcome"] for row in value_of(stepsnb("runs", "--json"))] == ["succeeded"]


def test_full_standard_error_takes_nothing_from_a_run(shell):
    result = shell("$S run hello.yml --json 2>/dev/full")

    assert (result.returncode, json.loads(result.stdout)["outcome"]) == (0, "succeeded")


@pytest.mark.parametrize(
    "arguments",
    [r"run hello.yml --var $'a=\xff'", r"run hello.yml --answer $'a=\xff'", r"run $'\xff.yml'", r"cost $'\xff'"],
)
def test_arguments_that_are_not_utf_8_are_refused_and_nothing_runs(shell, folder: Path, arguments):
    result = shell(f"$S {arguments}")

    assert result.returncode == 2
    assert result.stderr.endswith(b"is not UTF-8; write it in UTF-8, and rename a file that is not\n")
    assert result.stderr.count(b"\n") == 1
    assert not (folder / ".steps").exists()


def test_other_scripts_are_text(shell):
    result = shell("$S run hello.yml --var 'ж=日本 😀' --json")

    assert result.returncode == 0
