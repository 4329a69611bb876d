"""What the MCP servers of a pipeline offer, asked without a run."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from ..config import Pipeline
from ..engine import engine
from ..errors import InputError
from ..mcp import McpServers, TokenFile, find_server
from ..settings import MCP_LOGIN_S
from ..suggest import unknown_name
from ..visible import visible
from ..workspace import finish

if TYPE_CHECKING:
    import pandas as pd

    from .options import PathLike
    from .pipeline import LoadedPipeline

_ACTIONS = ("tools", "login", "logout")


def mcp(
    pipeline: "LoadedPipeline | PathLike",
    server: str | None = None,
    *,
    action: Literal["tools", "login", "logout"] = "tools",
    on_address: Callable[[str], None] | None = None,
    timeout_s: float = MCP_LOGIN_S,
) -> "pd.DataFrame":
    """List the MCP servers of a pipeline, or connect to one and list its tools; log in at one, or forget a login.

    `pipeline` is a loaded one, or what `load` takes. Without `server` nothing is started; columns, all texts: server,
    transport (`stdio` or `http`), address (the program with its arguments, or the URL), auth. With it, one row for
    each tool of that server; columns: tool (as it is granted), name (as the model sees it), description, arguments
    (their names, those that may be left out in brackets), read_only and idempotent (bool, as the server says).

    `login` hands the address where a person says yes to `on_address` (printed when unset), waits for that at most
    `timeout_s`, keeps the token for later runs of this user and returns the tools; `logout` deletes it and returns the
    servers.

    Raises: InputError for an unknown server or action, a token that is not set, or a server without `type: oauth`;
        McpError for one that does not answer or refuses the login.
    """
    from .pipeline import LoadedPipeline, load

    if action not in _ACTIONS:
        raise InputError(unknown_name("action", action, _ACTIONS))
    model = (pipeline if isinstance(pipeline, LoadedPipeline) else load(pipeline)).pipeline
    if server is None:
        if action != "tools":
            names = ", ".join(each.name for each in model.mcp_servers)
            raise InputError(f"`{action}` is for one server; name it: {names or 'there is none'}")
        return _servers_frame(model)
    if action == "login":
        _log_in(model, server, on_address or print, timeout_s)
    elif action == "logout":
        TokenFile(find_server(model.mcp_servers, server)).delete()
        return _servers_frame(model)
    return engine().start(_tools_frame(model, server)).result()


def _log_in(pipeline: Pipeline, server: str, on_address: Callable[[str], None], timeout_s: float) -> None:
    from ..mcp.login import log_in

    found = find_server(pipeline.mcp_servers, server)
    task = engine().start(log_in(found, pipeline.base_dir, on_address, timeout_s=timeout_s))
    try:
        task.result()
    except KeyboardInterrupt:
        task.cancel()
        raise


def _servers_frame(pipeline: Pipeline) -> "pd.DataFrame":
    import pandas as pd

    rows = [
        {
            "server": server.name,
            "transport": "http" if server.command is None else "stdio",
            "address": server.endpoint if server.command is None else " ".join((server.command, *server.args)),
            "auth": server.auth.type,
        }
        for server in pipeline.mcp_servers
    ]
    return pd.DataFrame(rows, columns=["server", "transport", "address", "auth"], dtype="str")


async def _tools_frame(pipeline: Pipeline, server: str) -> "pd.DataFrame":
    import pandas as pd

    servers = McpServers(pipeline.mcp_servers, pipeline.base_dir)
    try:
        tools = await servers.list_tools(server)
    finally:
        await finish(servers.close())
    rows = [
        {
            "tool": visible(tool.name),
            "name": visible(f"{server}__{tool.name}"),
            "description": visible(tool.description or tool.title or ""),
            "arguments": visible(_arguments(tool.input_schema)),
            "read_only": bool(tool.annotations and tool.annotations.read_only_hint),
            "idempotent": bool(tool.annotations and tool.annotations.idempotent_hint),
        }
        for tool in tools
    ]
    columns = ["tool", "name", "description", "arguments", "read_only", "idempotent"]
    return pd.DataFrame(rows, columns=columns)


def _arguments(schema: dict[str, object]) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    names = properties if isinstance(properties, dict) else {}
    needed = required if isinstance(required, list) else []
    return ", ".join(name if name in needed else f"[{name}]" for name in names)
