"""`%steps mcp`: the MCP servers of the loaded pipeline, or the tools of one, as a DataFrame."""

import argparse
from collections.abc import Sequence

from ...errors import InputError
from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps mcp",
        "List the pipeline's MCP servers, or the tools of one.",
        example="%steps mcp tools docs",
    )
    arguments.add_argument(
        "words",
        metavar="WHAT",
        nargs="*",
        help="`list`, or `tools SERVER`, as in a shell; SERVER alone lists its tools",
    )
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.mcp(loaded.pipeline, _server(args.words))


def _server(words: Sequence[str]) -> str | None:
    match words:
        case [] | ["list"]:
            return None
        case ["tools", server]:
            return server
        case [server] if server != "tools":
            return server
    raise InputError("%steps mcp: takes `list` or `tools SERVER`; see `%steps mcp --help`")


MCP = Verb("mcp", _arguments(), _call)
