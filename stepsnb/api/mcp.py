"""What the MCP servers of a pipeline offer, asked without a run."""

from typing import TYPE_CHECKING

from ..config import Pipeline
from ..engine import engine
from ..mcp import McpServers
from ..view.visible import visible
from ..workspace import finish

if TYPE_CHECKING:
    import pandas as pd

    from .options import PathLike
    from .pipeline import LoadedPipeline


def mcp(pipeline: "LoadedPipeline | PathLike", server: str | None = None) -> "pd.DataFrame":
    """List the MCP servers of a pipeline, or connect to one and list its tools.

    `pipeline` is a loaded one, or what `load` takes. Without `server` nothing is started; columns, all texts: server,
    transport (`stdio` or `http`), address (the program with its arguments, or the URL), auth. With it, one row for
    each tool of that server; columns: tool (as it is granted), name (as the model sees it), description, arguments
    (their names, those that may be left out in brackets), read_only and idempotent (bool, as the server says).

    Raises: InputError for an unknown server or a token that is not set, McpError for one that does not answer.
    """
    from .pipeline import LoadedPipeline, load

    model = (pipeline if isinstance(pipeline, LoadedPipeline) else load(pipeline)).pipeline
    return _servers_frame(model) if server is None else engine().start(_tools_frame(model, server)).result()


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
