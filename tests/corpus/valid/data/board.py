"""An MCP server of a notice board, for `mcp_resource.yml`: by hand, as a pipeline's `python3` may know no SDK."""

import json
import sys

NOTES = ["Ferry at nine", "Pool closed"]


def tool(name, *arguments):
    properties = {argument: {"type": "integer" if argument == "number" else "string"} for argument in arguments}
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


def call(name, arguments):
    if name == "list_notes":
        return [{"number": str(number)} for number, _ in enumerate(NOTES, 1)]
    if name == "read_note":
        return {"text": NOTES[arguments["number"] - 1], "for": arguments.get("reader", "all")}
    NOTES.append(arguments["text"])
    return {"number": str(len(NOTES))}


def answer(method, params):
    if method == "initialize":
        info = {"name": "board", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [tool("list_notes"), tool("read_note", "number", "reader"), tool("post_note", "text")]}
    if method == "tools/call":
        text = json.dumps(call(params["name"], params.get("arguments", {})))
        return {"content": [{"type": "text", "text": text}], "isError": False}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request["method"], request.get("params", {}))
    body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "method not found"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
