"""A question at a real terminal."""

import os
import re

import pexpect
import pytest

from .conftest import COMMAND, value_of


@pytest.fixture
def at_terminal(folder):
    """Start the command on a terminal of its own."""
    started = []

    def start(*args: str) -> pexpect.spawn:
        child = pexpect.spawn(COMMAND, list(args), cwd=str(folder), encoding="utf-8", timeout=30, env=dict(os.environ))
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def finish(child: pexpect.spawn) -> tuple[int, str]:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, child.before


def test_question_is_answered_by_typing(at_terminal, asking):
    child = at_terminal("run", str(asking()))
    child.expect(r"\? Which port\? \[Tromso \| Bergen\]")
    child.expect("answer> ")

    child.sendline("Narvik")

    code, rest = finish(child)
    assert code == 0
    assert "→ Narvik (prompt)" in rest


def test_number_chooses_an_option(at_terminal, asking):
    child = at_terminal("run", str(asking()))
    child.expect("answer> ")

    child.sendline("2")

    code, rest = finish(child)
    assert code == 0
    assert "→ Bergen (prompt)" in rest


def test_enter_alone_takes_the_default(at_terminal, asking):
    child = at_terminal("run", str(asking("default: Tromso")))
    child.expect("Enter alone answers `Tromso`")
    child.expect("answer> ")

    child.sendline("")

    code, rest = finish(child)
    assert code == 0
    assert "→ Tromso (prompt)" in rest


def test_enter_alone_without_a_default_asks_again(at_terminal, asking):
    child = at_terminal("run", str(asking()))
    child.expect("answer> ")

    child.sendline("")
    child.expect("please type an answer, or a number from 1 to 2")
    child.sendline("Bergen")

    assert finish(child)[0] == 0


def test_ctrl_c_at_the_prompt_stops_the_run(at_terminal, asking, stepsnb):
    child = at_terminal("run", str(asking()))
    child.expect("answer> ")

    child.sendintr()

    code, rest = finish(child)
    assert code == 130
    assert "job `ship` aborted" in rest
    assert "Traceback" not in rest
    assert [row["outcome"] for row in value_of(stepsnb("runs", "--json"))] == ["aborted"]


def test_end_of_input_at_the_prompt_is_nobody(at_terminal, asking):
    child = at_terminal("run", str(asking()))
    child.expect("answer> ")

    child.sendeof()

    code, rest = finish(child)
    assert code == 130
    assert re.search(r"nobody is here to answer", rest)


def test_no_wait_asks_nobody(at_terminal, asking):
    child = at_terminal("run", str(asking("default: Tromso")), "--no-wait")

    code, rest = finish(child)
    assert code == 0
    assert "answer>" not in rest
    assert "→ Tromso (default)" in rest


APPROVAL = """\
jobs:
- name: ship
  plan:
  - approval: { name: release, message: "Ship 1.2 to everybody?" }
  - task: publish
    run: echo published
"""


def test_approval_reads_well_and_takes_a_reason(at_terminal, write):
    child = at_terminal("run", str(write("ship.yml", APPROVAL)))
    child.expect(r"\? Ship 1\.2 to everybody\? \[approve \| reject\]")
    child.expect("1  approve")
    child.expect("2  reject")
    child.expect("a reason may follow, as in `reject: not today`")
    child.expect("answer> ")

    child.sendline("maybe")
    child.expect("please type an answer: `approve`, `reject`; a reason may follow")
    child.sendline("Reject: not on a Friday")

    code, rest = finish(child)
    assert code == 1
    assert "→ reject: not on a Friday (prompt)" in rest
    assert "rejected: not on a Friday" in rest
    assert "published" not in rest


def test_approval_by_number_lets_the_plan_go_on(at_terminal, write):
    child = at_terminal("run", str(write("ship.yml", APPROVAL)))
    child.expect("answer> ")

    child.sendline("1")

    code, rest = finish(child)
    assert code == 0
    assert "published" in rest
