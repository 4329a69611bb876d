"""`%steps mcp`: the MCP servers of the loaded pipeline, or the tools of one, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps mcp",
        "List the pipeline's MCP servers, or the tools of one.",
        example="%steps mcp docs",
    )
    arguments.add_argument("server", metavar="SERVER", nargs="?", help="list the tools of this server")
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.mcp(loaded.pipeline, args.server)


MCP = Verb("mcp", _arguments(), _call)
