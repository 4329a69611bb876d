"""`stepsnb mcp list|tools|login|logout FILE [SERVER]`: what MCP servers there are, what they offer, logins there."""

import argparse
import sys
import threading
import webbrowser
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
    login = asked.add_parser("login", help="log in at a server with `type: oauth`")
    logout = asked.add_parser("logout", help="forget a login")
    for each in (servers, tools, login, logout):
        each.add_argument("file", type=Path, metavar="FILE", help="the pipeline")
        add_json(each)
    for each in (tools, login, logout):
        each.add_argument("server", metavar="SERVER", help="its name in `mcp_servers:`")
    servers.set_defaults(verb=list_servers)
    tools.set_defaults(verb=list_tools)
    login.set_defaults(verb=log_in)
    logout.set_defaults(verb=log_out)


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


def log_in(args: argparse.Namespace) -> int:
    """Show where to log in, wait for that, and say how many tools there are."""
    from ..api import mcp

    out = sys.stderr if args.json else sys.stdout

    def show(address: str) -> None:
        say(f"log in at {address}", file=out)
        if out.isatty():
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # it may wait for a browser

    tools = len(mcp(args.file, args.server, action="login", on_address=show))
    if args.json:
        print_json({"server": args.server, "tools": tools})
    else:
        say(f"logged in at `{args.server}`, which has {tools} tools")
    return 0


def log_out(args: argparse.Namespace) -> int:
    """Forget the login."""
    from ..api import mcp

    mcp(args.file, args.server, action="logout")
    if args.json:
        print_json({"server": args.server})
    else:
        say(f"no login at `{args.server}` is kept any more")
    return 0
