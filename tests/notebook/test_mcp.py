"""`%steps mcp` in a real kernel, with a real server."""

import json
import sys
from pathlib import Path

import pytest

from .kernel import Kernel

SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"


@pytest.fixture
def loaded(kernel: Kernel, tmp_path: Path) -> Kernel:
    server = f"{{name: notes, command: {json.dumps(sys.executable)}, args: {json.dumps([str(SERVER)])}}}"
    job = "{name: office, plan: [{task: make, run: 'true'}]}"
    (tmp_path / "office.yml").write_text(f"mcp_servers: [{server}]\njobs: [{job}]\n")
    assert kernel.run("%steps load office.yml").reply["status"] == "ok"
    return kernel


def test_servers_and_their_tools_are_listed_as_in_a_shell(loaded: Kernel) -> None:
    assert "notes" in loaded.run("%steps mcp list").result
    assert loaded.run("%steps mcp").result == loaded.run("%steps mcp list").result
    assert "notes__add" in loaded.run("%steps mcp tools notes").result
    assert loaded.run("%steps mcp notes").result == loaded.run("%steps mcp tools notes").result


def test_table_of_tools_can_be_worked_with(loaded: Kernel) -> None:
    shown = loaded.run("tools = %steps mcp tools notes\nprint(list(tools[tools.read_only].tool))")

    assert shown.printed == "['add']\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("mcp tools note", "unknown MCP server `note` (did you mean `notes`?)"),
        ("mcp tools", "takes `list`, or `tools`, `login` or `logout` with a SERVER"),
        ("mcp tools notes more", "takes `list`, or `tools`, `login` or `logout` with a SERVER"),
    ],
)
def test_what_is_no_server_is_one_line(loaded: Kernel, line: str, problem: str) -> None:
    shown = loaded.run(f"%steps {line}")

    assert problem in shown.error[1]
    assert len(shown.traceback) == 1


def test_server_leaves_nothing_in_the_kernel(loaded: Kernel) -> None:
    loaded.run("%steps mcp tools notes")

    assert loaded.run("import psutil; psutil.Process().children(recursive=True)").result == "[]"
