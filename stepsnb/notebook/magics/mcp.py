"""`%steps mcp`: the MCP servers of the loaded pipeline, or the tools of one, as a DataFrame."""

import argparse
from collections.abc import Sequence
from typing import Literal

from ...errors import InputError
from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps mcp",
        "List the pipeline's MCP servers or the tools of one, or log in there.",
        example="%steps mcp tools docs",
    )
    arguments.add_argument(
        "words",
        metavar="WHAT",
        nargs="*",
        help="`list`, or `tools`, `login` or `logout` with a SERVER, as in a shell; SERVER alone lists its tools",
    )
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    server, action = _asked(args.words)
    return api.mcp(loaded.pipeline, server, action=action)


def _asked(words: Sequence[str]) -> tuple[str | None, Literal["tools", "login", "logout"]]:
    match words:
        case [] | ["list"]:
            return None, "tools"
        case ["tools", server]:
            return server, "tools"
        case ["login", server]:
            return server, "login"
        case ["logout", server]:
            return server, "logout"
        case [server] if server not in ("tools", "login", "logout"):
            return server, "tools"
    raise InputError("%steps mcp: takes `list`, or `tools`, `login` or `logout` with a SERVER; see `%steps mcp --help`")


MCP = Verb("mcp", _arguments(), _call)
