"""The real model behind the real server, and how its process begins and ends."""

import asyncio
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from stepsnb import messages
from stepsnb.errors import InputError, ProviderError
from stepsnb.llm import Chat, Choice, ModelClient, Target, ToolSpec
from stepsnb.llm.local import LocalModel, ServerInfo, server_for, stop_servers

pytestmark = pytest.mark.usefixtures("_servers_stopped")

SCHEMA = {
    "oneOf": [
        {
            "type": "object",
            "properties": {
                "tool": {"const": "write_file"},
                "arguments": {
                    "type": "object",
                    "properties": {"path": {"const": "report/a.md"}, "content": {"type": "string", "maxLength": 40}},
                    "required": ["path", "content"],
                    "additionalProperties": False,
                },
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
    ]
}


def served_models(info: ServerInfo) -> list[str]:
    reply = httpx.get(f"{info.base_url}/models", trust_env=False)
    return [model["id"] for model in reply.json()["data"]]


def wait_until(fact, within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if fact():
            return True
        time.sleep(0.05)
    return False


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def has_ended(pid: int) -> bool:
    """Whether a child of ours has ended, be it collected or not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return not state.strip() or state.startswith("Z")


def children_of(pid: int) -> list[int]:
    listing = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = (line.split(None, 2) for line in listing.splitlines())
    return [int(child) for child, parent, command in rows if int(parent) == pid and not command.endswith("ps")]


PARENT = """
import asyncio, sys
from stepsnb.llm.local import server_for
print(asyncio.run(server_for("smollm2")).base_url, flush=True)
sys.stdin.read()
"""


def start_parent() -> tuple[subprocess.Popen[str], str, list[int]]:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    base_url = parent.stdout.readline().strip()
    return parent, base_url, children_of(parent.pid)


def is_answering(base_url: str) -> bool:
    try:
        return httpx.get(f"{base_url}/models", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.local_model
async def test_server_answers_under_the_models_name():
    info = await server_for("smollm2")

    assert served_models(info) == ["smollm2"]
    assert info.context_window == 8192


@pytest.mark.local_model
async def test_one_server_is_shared_by_all_who_ask():
    first, second = await asyncio.gather(server_for("smollm2"), server_for("smollm2"))

    assert first == second


@pytest.mark.local_model
async def test_dead_server_is_replaced_on_next_use():
    first = await server_for("smollm2")
    (child,) = children_of(os.getpid())
    os.kill(child, signal.SIGKILL)
    assert wait_until(lambda: has_ended(child))
    assert not is_answering(first.base_url)

    second = await server_for("smollm2")

    assert served_models(second) == ["smollm2"]


@pytest.mark.local_model
async def test_stopped_server_is_gone_and_starts_again():
    first = await server_for("smollm2")

    stop_servers("smollm2")

    assert not is_answering(first.base_url)
    assert served_models(await server_for("smollm2")) == ["smollm2"]


@pytest.mark.local_model
def test_server_ends_with_its_parent():
    parent, base_url, (child,) = start_parent()

    parent.communicate()

    assert parent.returncode == 0
    assert wait_until(lambda: not is_alive(child))
    assert not is_answering(base_url)


@pytest.mark.local_model
def test_server_ends_when_its_parent_is_killed_outright():
    parent, base_url, (child,) = start_parent()

    parent.kill()
    parent.communicate()

    assert wait_until(lambda: not is_answering(base_url))
    assert wait_until(lambda: not is_alive(child))


@pytest.mark.local_model
async def test_reply_keeps_to_the_schema():
    info = await server_for("smollm2")
    body = {
        "model": info.model,
        "messages": [{"role": "user", "content": "Write a line about tides into report/a.md."}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
    }

    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        reply = (await client.post(f"{info.base_url}/chat/completions", json=body)).json()

    call = json.loads(reply["choices"][0]["message"]["content"])
    assert call["tool"] == "write_file"
    assert call["arguments"]["path"] == "report/a.md"
    assert len(call["arguments"]["content"]) <= 40


def open_chat(*tools: ToolSpec) -> Chat:
    target = Target(
        provider="local", model="smollm2", label="local/smollm2", base_url="", tool_mode="json", max_tokens=200
    )
    return ModelClient(target).open(tools)


@pytest.mark.local_model
async def test_streamed_replies_follow_each_other_at_once():
    chat = open_chat()
    history = [messages.user("Say hello.")]

    for _ in range(3):  # llama.cpp closes the connection after a stream that it announced to keep open
        reply = await chat.complete(history)
        history += [messages.Message(role="assistant", content=reply.text), messages.user("Again.")]

    assert reply.status == 200


@pytest.mark.local_model
async def test_owed_call_is_made_with_its_arguments_and_closes_in_time():
    text = {"type": "string"}
    write_file = ToolSpec(
        name="write_file",
        description="Write a file.",
        parameters={"type": "object", "properties": {"path": text, "content": text}, "required": ["path", "content"]},
    )
    choice = Choice(tools=("write_file",), must_call=True, arguments={"write_file": {"path": ["report/a.md"]}})
    history = [messages.user("Write all whole numbers from 100000 on, in digits, into report/a.md.")]

    reply = await open_chat(write_file).complete(history, choice)

    (call,) = reply.tool_calls
    assert call.name == "write_file"
    assert json.loads(call.arguments)["path"] == "report/a.md"


@pytest.mark.local_model
async def test_web_pages_may_not_read_replies():
    info = await server_for("smollm2")

    reply = httpx.get(f"{info.base_url}/models", headers={"Origin": "http://page.example"}, trust_env=False)

    assert reply.headers["access-control-allow-origin"] == ""


@pytest.mark.local_model
async def test_llama_server_on_path_serves_when_the_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "llama-server"
    program.write_text(f"#!{sys.executable}\n{LLAMA_SERVER}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    info = await server_for("smollm2")

    assert served_models(info) == ["smollm2"]
    stop_servers()
    assert wait_until(lambda: not is_answering(info.base_url))


LLAMA_SERVER = """
import argparse, signal, xllamacpp
parser = argparse.ArgumentParser()
for name in ("model", "alias", "host", "port", "ctx-size", "parallel", "threads", "temp", "top-p", "repeat-penalty"):
    parser.add_argument(f"--{name}")
parser.add_argument("--jinja", action="store_true")
args = parser.parse_args()
params = xllamacpp.CommonParams()
params.model.path, params.model_alias, params.hostnames = args.model, {args.alias}, [args.host]
params.port, params.n_ctx, params.n_parallel = int(args.port), int(args.ctx_size), int(args.parallel)
server = xllamacpp.Server(params)
signal.pause()
"""


async def test_machine_with_nothing_to_serve_with_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setattr(shutil, "which", lambda _: None)

    with pytest.raises(ProviderError, match=r'needs the package xllamacpp .* run `pip install "stepsnb\[local\]"`'):
        await server_for("smollm2")


async def test_unknown_model_is_refused_before_anything_starts():
    with pytest.raises(InputError, match="unknown local model `gpt`; available: smollm2"):
        await server_for("gpt")


async def test_server_that_cannot_load_the_file_says_why(tiny: LocalModel, cache: Path):
    with pytest.raises(ProviderError) as caught:
        await server_for("tiny")

    message = str(caught.value)
    assert message.startswith("the server of `local/tiny` did not start: it ended with ")
    assert "tiny.gguf" in message
    assert "use it as `llama-server/NAME`" in message


@pytest.mark.local_model
async def test_stop_while_starting_leaves_no_process():
    starting = asyncio.create_task(server_for("smollm2"))
    while not children_of(os.getpid()):
        await asyncio.sleep(0.01)

    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting

    assert children_of(os.getpid()) == []
