"""The input transformers, on the cells people write."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from stepsnb.notebook.rewrite import AwaitMagics, keep_result

AWAITED = "await __import__('stepsnb.notebook').notebook.awaited_magic"


@pytest.fixture
def kernel_shell(shell: InteractiveShell) -> InteractiveShell:
    """The shell, transforming cells as one in a kernel does."""
    shell.input_transformers_post.append(AwaitMagics(shell))
    return shell


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%%steps --job hello\na: 1\n", f"{AWAITED}('steps', '--job hello', 'a: 1\\n')\n"),
        ("%%agent writer\nhi ((x))", f"{AWAITED}('agent', 'writer', 'hi ((x))\\n')\n"),
        ("%steps next", f"{AWAITED}('steps', 'next')\n"),
        ("r = %steps next", f"r = {AWAITED}('steps', 'next')\n"),
        ("x = 1\n%steps next\ny = 2", f"x = 1\n{AWAITED}('steps', 'next')\ny = 2\n"),
        ("é = 'ä'; r = 1\nö = %steps next", f"é = 'ä'; r = 1\nö = {AWAITED}('steps', 'next')\n"),
        ("r << %%steps --job j\na: 1", f"{AWAITED}('steps', '--job j --as r', 'a: 1\\n')\n"),
    ],
)
def test_a_magic_that_is_a_statement_is_awaited(kernel_shell: InteractiveShell, cell: str, expected: str) -> None:
    assert kernel_shell.transform_cell(cell) == expected


@pytest.mark.parametrize(
    "cell",
    [
        "%%time\n%steps next",
        "for i in range(2):\n    %steps next",
        "def f():\n    %steps next",
        "text = \"get_ipython().run_line_magic('steps', 'next')\"",
        "%matplotlib inline",
        "get_ipython().run_cell_magic('steps', '',",
    ],
)
def test_everything_else_is_left_alone(kernel_shell: InteractiveShell, cell: str) -> None:
    assert "await" not in kernel_shell.transform_cell(cell)


def test_a_magic_inside_a_running_cell_is_not_awaited(shell: InteractiveShell) -> None:
    transformer = AwaitMagics(shell)
    call = ["get_ipython().run_line_magic('steps', 'next')\n"]
    info = object()

    transformer.cell_started(info)
    assert transformer(call) == call
    transformer.cell_ended(type("Result", (), {"info": object()}))  # an empty cell, run from within
    assert transformer(call) == call
    transformer.cell_ended(type("Result", (), {"info": info}))
    assert transformer(call) != call


def test_a_cell_that_broke_off_counts_as_ended(shell: InteractiveShell) -> None:
    transformer = AwaitMagics(shell)
    transformer.cell_started(object())

    transformer.cell_ended(None)

    assert "await" in transformer(["get_ipython().run_line_magic('steps', 'next')\n"])[0]


def test_without_autoawait_the_magic_is_called(kernel_shell: InteractiveShell) -> None:
    kernel_shell.autoawait = False

    assert "await" not in kernel_shell.transform_cell("%steps next")


@pytest.mark.parametrize(
    "line", ["r << 2\n", "r << %steps next\n", "1 << %steps\n", "x = r << %%steps\n", "%%steps --as r\n"]
)
def test_only_a_name_before_a_magic_keeps_its_result(line: str) -> None:
    assert keep_result([line]) == [line]


def test_blank_lines_may_stand_before_a_kept_cell() -> None:
    assert keep_result(["\n", "  r << %%agent writer\n", "hi\n"]) == ["\n", "%%agent writer --as r\n", "hi\n"]
