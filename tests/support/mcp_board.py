"""An MCP server for resource types, made with the SDK: a board of notes. Usage: mcp_board.py FOLDER

Each file of the folder is a note; `calls` beside it gets the name of each tool that is called, `pids` that of each
process. Its tool `say` answers whatever its argument is.
"""

import json
import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ToolAnnotations

FOLDER = Path(sys.argv[1])
server = MCPServer("board")


def numbers():
    return sorted((file.name for file in FOLDER.iterdir()), key=int)


def called(name):
    with (FOLDER.parent / "calls").open("a") as file:
        file.write(f"{name}\n")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def list_notes(after: int | None = None) -> list[dict[str, str]]:
    """List the notes from a number on."""
    called("list_notes")
    return [{"n": name} for name in numbers() if after is None or int(name) >= after]


@server.tool(structured_output=False)
def list_in_parts():
    """List the notes, as a server does that knows no structured content."""
    return [{"n": name} for name in numbers()]


@server.tool(structured_output=False)
def read_note(number: int, loud: bool = False) -> str:
    """Read a note."""
    called("read_note")
    text = (FOLDER / str(number)).read_text()
    return text.upper() if loud else text


@server.tool()
def post_note(text: str, labels: list[str] | None = None) -> dict[str, str]:
    """Post a note."""
    called("post_note")
    number = str(len(numbers()) + 1)
    (FOLDER / number).write_text(" ".join([text, *(labels or [])]))
    return {"n": number}


@server.tool()
def say(answer: str) -> CallToolResult:
    """Answer the JSON of a result."""
    return CallToolResult.model_validate(json.loads(answer))


@server.tool(structured_output=False)
def flood(count: int) -> str:
    """Answer with a long array."""
    return json.dumps([{"n": f"{number:0100}"} for number in range(count)])


@server.tool(structured_output=False)
def hang() -> str:
    """Never answer."""
    called("hang")
    time.sleep(600)
    return ""


@server.resource("board://notes/{number}/text.txt")
def note(number: str) -> str:
    """One note."""
    return (FOLDER / number).read_text()


if __name__ == "__main__":
    with (FOLDER.parent / "pids").open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    server.run("stdio")
