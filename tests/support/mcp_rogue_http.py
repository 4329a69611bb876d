"""An MCP server at an address, by hand, of the older protocol generation. Usage: mcp_rogue_http.py MODE LOG

It prints its port. MODE is how it answers (`json`, `sse`) and what it does wrong; LOG gets the method of each message
and `gone` when a client has left a call that hangs.
"""

import itertools
import json
import select
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODE, LOG = sys.argv[1], Path(sys.argv[2])
SESSION = "session-of-tests"
VERSION = "2025-06-18"
HINTS = {"readOnlyHint": "retry" in MODE or MODE.startswith("first")}
TOOL = {"name": "work", "inputSchema": {"type": "object"}, "annotations": HINTS}
CALLS = itertools.count()
HUGE, LARGE = 50_000_000, 5_000_000


def log(word):
    with LOG.open("a") as file:
        file.write(f"{word}\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        """Say nothing of each request."""

    def do_GET(self):
        self.answer(405)

    def do_DELETE(self):
        log("delete")
        self.answer(200)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method = request["method"]
        log(method)
        if method != "initialize" and self.headers.get("mcp-session-id") != SESSION:
            self.answer(400, b"Bad Request: Missing session ID")
        elif "id" not in request:
            self.answer(202)
        elif MODE == "hang" or (MODE == "hang-call" and method == "tools/call"):
            select.select([self.connection], [], [], 60)
            log("gone")
            self.close_connection = True
        elif (MODE == "down-list" and method == "tools/list") or (
            MODE.startswith("down-call") and method == "tools/call"
        ):
            self.answer(503)
        elif MODE.startswith("first") and method == "tools/call":
            is_first = next(CALLS) == 0
            if not is_first:
                time.sleep(1)  # the other call is over by then
            if is_first and MODE == "first-down":
                self.answer(503)
            else:
                self.reply(request, method, is_huge=is_first)
        else:
            self.reply(request, method, is_huge=MODE.startswith("huge"))

    def reply(self, request, method, *, is_huge):
        head = {"jsonrpc": "2.0", "id": request["id"]}
        result = {
            "initialize": {
                "protocolVersion": VERSION,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "rogue", "version": "1"},
            },
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "done"}], "isError": False},
        }.get(method)
        if result is None:
            body = {**head, "error": {"code": -32601, "message": "method not found"}}
        else:
            body = {**head, "result": result}
        raw = json.dumps(body).encode()
        if method == "tools/call" and (is_huge or MODE.startswith("large")):
            raw = raw.replace(b"done", b"x" * (HUGE if is_huge else LARGE))
        if method == ("tools/list" if "list" in MODE else "tools/call") and MODE.startswith("torn"):
            raw = b'{"torn'
        if "sse" in MODE:
            raw, kind = b"event: message\ndata: " + raw + b"\n\n", "text/event-stream"
        else:
            kind = "application/json"
        self.answer(200, raw, kind)

    def answer(self, status, body=b"", kind="text/plain"):
        self.send_response(status)
        self.send_header("content-type", kind)
        if "chunked" in MODE and status == 200:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", SESSION)
        self.end_headers()
        try:
            if "chunked" in MODE and status == 200:
                for start in range(0, len(body), 65536):
                    part = body[start : start + 65536]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.wfile.write(body)
        except OSError:
            log("gone")
            self.close_connection = True


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Say nothing of clients that leave."""


with Server(("127.0.0.1", 0), Handler) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
