"""`stepsnb mcp list FILE` and `stepsnb mcp tools FILE SERVER`: what MCP servers there are and what they offer."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .options import add_json
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `mcp`."""
    parser = verbs.add_parser("mcp", help="list the MCP servers of a pipeline, or the tools of one")
    asked = parser.add_subparsers(required=True, metavar="WHAT")
    servers = asked.add_parser("list", help="the servers of a pipeline; none is started")
    tools = asked.add_parser("tools", help="connect to a server and list its tools")
    for each in (servers, tools):
        each.add_argument("file", type=Path, metavar="FILE", help="the pipeline")
        add_json(each)
    tools.add_argument("server", metavar="SERVER", help="its name in `mcp_servers:`")
    servers.set_defaults(verb=list_servers)
    tools.set_defaults(verb=list_tools)


def list_servers(args: argparse.Namespace) -> int:
    """Print one row a server."""
    from ..api import mcp

    rows = records(mcp(args.file))
    if args.json:
        print_json(rows)
    elif not rows:
        say(f"`{args.file}` has no `mcp_servers:`")
    else:
        cells = [[str(row[name]) for name in ("server", "transport", "address", "auth")] for row in rows]
        print_table(["SERVER", "TRANSPORT", "ADDRESS", "AUTH"], cells)
    return 0


def list_tools(args: argparse.Namespace) -> int:
    """Print one row a tool."""
    from ..api import mcp

    rows = records(mcp(args.file, args.server))
    if args.json:
        print_json(rows)
    elif not rows:
        say(f"MCP server `{args.server}` has no tools")
    else:
        cells = [[str(row["name"]), str(row["arguments"]), " ".join(str(row["description"]).split())] for row in rows]
        print_table(["NAME", "ARGUMENTS", "DESCRIPTION"], cells)
    return 0
