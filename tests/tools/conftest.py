import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from stepsnb.messages import ToolCall
from stepsnb.tools import Called, Tool, ToolContext, call_tool
from stepsnb.workspace import Root

Call = Callable[..., Awaitable[Called]]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The working directory of the calls."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def ctx(work: Path) -> ToolContext:
    return ToolContext(root=Root(work))


@pytest.fixture
def call(ctx: ToolContext) -> Call:
    """Call a tool as a model does: with arguments as JSON text."""

    async def call(tool: Tool, **arguments: Any) -> Called:
        return await call_tool(tool, ToolCall("call_1", tool.name, json.dumps(arguments)), ctx)

    return call


@pytest.fixture(params=["plainly", "through a link"])
def ws(request: pytest.FixtureRequest, tmp_path: Path, ctx: ToolContext) -> Path:
    """The folder of H09, with the context's root at `app`, reached in both ways."""
    home = tmp_path / "ws"
    (home / "app" / "real-docs").mkdir(parents=True)
    (home / "app-old").mkdir()
    (home / "app-old" / "key.txt").write_text("KEY")
    (home / "app" / "real-docs" / "a.md").write_text("doc a")
    (home / "app" / "up").symlink_to("../app-old")
    (home / "app" / "gone").symlink_to("../app-old/new.txt")
    (home / "app" / "docs").symlink_to("./real-docs")
    if request.param == "through a link":
        (tmp_path / "link").symlink_to(home)
        home = tmp_path / "link"
    ctx.root = Root(home / "app")
    return home


def error_of(called: Called) -> str:
    """The message of a call that failed."""
    assert called.result.is_error
    assert not called.ok
    return str(json.loads(called.result.content)["error"])
