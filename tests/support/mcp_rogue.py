"""An MCP server that misbehaves, by hand and without the SDK. Usage: mcp_rogue.py MODE [FILE]

MODE is what it does wrong; FILE counts the calls of its tool. With `child` it gets the ids of the server and of a
process that the server leaves, and `call` at the first call.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

MODE = sys.argv[1]
FILE = Path(sys.argv[2]) if len(sys.argv) > 2 else None
HINTS = {"die-idempotent": {"idempotentHint": True}}.get(MODE, {})
TOOL = {"name": "work", "inputSchema": {"type": "object"}, "annotations": HINTS}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def call(request):
    if FILE is not None and MODE != "child":
        with FILE.open("a") as file:
            file.write("call" if "child" in MODE else "x")
    if MODE.startswith("die"):
        print("out of cheese", file=sys.stderr, flush=True)
        sys.exit(3)
    if MODE.startswith("hang-call"):
        time.sleep(60)
    if MODE == "refuse":
        return {"error": {"code": -32602, "message": "no such tool: work"}}
    text = "x" * 50_000_000 if MODE == "huge" else "done"
    return {"result": {"content": [{"type": "text", "text": text}], "isError": False}}


def answer(request):
    method = request["method"]
    if method == "initialize":
        version = "2024-11-05" if MODE == "older" else request["params"]["protocolVersion"]
        info = {"name": "rogue", "version": "1"}
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": [TOOL]}}
    if method == "tools/call":
        return call(request)
    return {"error": {"code": -32601, "message": "method not found"}}


if MODE == "exit":
    print("no licence found", file=sys.stderr, flush=True)
    sys.exit(5)
if MODE == "junk":
    print("Welcome to the rogue server!", flush=True)
if "child" in MODE:
    FILE.write_text(f"{subprocess.Popen(['sleep', '600']).pid} {os.getpid()} ")
for line in sys.stdin:
    if MODE in ("hang", "hang-with-child"):
        time.sleep(60)
    request = json.loads(line)
    if "id" in request:
        send({"jsonrpc": "2.0", "id": request["id"], **answer(request)})
