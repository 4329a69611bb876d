"""Servers at the edge of what they may do: older protocols, floods, silence; what is left of them and of the run."""

import json
import os
import socket
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

import stepsnb
from stepsnb.outcome import Outcome
from tests.support.mcp_servers import npm_server

SUPPORT = Path(__file__).parents[1] / "support"
ROGUE = SUPPORT / "mcp_rogue.py"
ROGUE_HTTP = SUPPORT / "mcp_rogue_http.py"
PATIENT = "retry: {connector: {total_timeout_secs: 60}}"


@pytest.fixture
def load(scripted_llm):
    """Load a job whose agent has all tools of the server `theirs`."""

    def load(server, *, agent="", grant="{mcp: theirs}"):
        text = f"""
mcp_servers: [{{name: theirs, {server}}}]
agents:
- name: clerk
  source: {{model: {scripted_llm.model}}}
  tools: [{grant}]
  {agent}
jobs: [{{name: office, plan: [{{agent: clerk, prompt: Do it.}}]}}]
"""
        return stepsnb.load(text)

    return load


@pytest.fixture
def rogue(tmp_path):
    """Start a server at an address that does something wrong, and say how it is reached."""
    started = []

    def rogue(mode):
        process = subprocess.Popen(
            [sys.executable, ROGUE_HTTP, mode, tmp_path / "log"], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return f"endpoint: 'http://127.0.0.1:{process.stdout.readline().strip()}/mcp'"

    yield rogue
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def logged(tmp_path):
    def logged():
        log = tmp_path / "log"
        return log.read_text().split() if log.exists() else []

    return logged


def program(file, *args):
    return f"command: {json.dumps(sys.executable)}, args: {json.dumps([str(file), *map(str, args)])}"


def results(run):
    return [event.result for event in run.events if event.kind == "tool" and event.phase == "end"]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(is_there):
    began = time.monotonic()
    while not is_there():
        assert time.monotonic() - began < 60
        time.sleep(0.02)


def test_older_generation_of_a_program(load, scripted_llm):
    scripted_llm.says(calls=[("theirs__work", {})]).says("ok")

    run = load(program(ROGUE, "older")).run()

    assert (run.outcome, results(run)) == (Outcome.SUCCEEDED, ["done"])


@pytest.mark.parametrize("mode", ["json", "sse", "json-chunked", "sse-chunked"])
def test_older_generation_at_an_address(load, rogue, logged, scripted_llm, mode):
    scripted_llm.says(calls=[("theirs__work", {})]).says("ok")

    run = load(rogue(mode)).run()

    assert (run.outcome, results(run)) == (Outcome.SUCCEEDED, ["done"])
    assert "initialize" in logged()
    assert logged()[-1] == "delete"


@pytest.mark.parametrize("mode", ["large-json", "large-sse"])
def test_answer_of_5_mb_is_taken_from_an_address(load, rogue, scripted_llm, mode):
    scripted_llm.says(calls=[("theirs__work", {})]).says("ok")

    run = load(rogue(mode), grant="{mcp: theirs, max_output_bytes: 10000000}").run()

    assert run.outcome is Outcome.SUCCEEDED
    assert {*results(run)[0]} == {"x"}


@pytest.mark.parametrize("mode", ["huge-json", "huge-json-chunked", "huge-sse", "huge-sse-chunked"])
def test_answer_of_50_mb_from_an_address_is_refused_and_the_run_goes_on(load, rogue, scripted_llm, mode):
    for _ in range(2):
        scripted_llm.says(calls=[("theirs__work", {})])
    scripted_llm.says("too much")

    pipeline = load(rogue(mode))

    tracemalloc.start()
    run = pipeline.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert run.outcome is Outcome.SUCCEEDED
    assert len(results(run)) == 2
    for result in results(run):
        assert "a message of more than 16,000,000 bytes" in result or "exceeded the 16000000 byte limit" in result
    assert peak < 50_000_000


@pytest.mark.parametrize(("mode", "problem"), [("first-down", "it answered 503"), ("first-huge", "16,000,000 bytes")])
def test_call_that_fails_leaves_the_one_beside_it_alone(load, rogue, logged, scripted_llm, mode, problem):
    scripted_llm.says(calls=[("theirs__work", {}), ("theirs__work", {})]).says("one is enough")

    run = load(rogue(mode), grant="{mcp: theirs, retry: {max_attempts: 1}}").run()

    done, failed = sorted(results(run), key=lambda result: result != "done")
    assert done == "done"
    assert problem in failed
    assert logged().count("initialize") == logged().count("delete")


def test_shell_says_in_one_line_what_is_wrong_with_a_server(rogue, tmp_path):
    file = tmp_path / "office.yml"
    job = "{name: office, plan: [{task: make, run: 'true'}]}"
    file.write_text(f"mcp_servers: [{{name: theirs, {rogue('torn-list-json')}}}]\njobs: [{job}]\n")

    command = [sys.executable, "-c", "from stepsnb.cli.main import main; raise SystemExit(main())"]
    ended = subprocess.run([*command, "mcp", "tools", file, "theirs"], capture_output=True, text=True)

    assert ended.returncode != 0
    assert "MCP server `theirs`: its list of tools cannot be fetched" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("mode", ["torn-json", "torn-sse"])
def test_answer_that_is_no_message_is_data(load, rogue, scripted_llm, mode):
    scripted_llm.says(calls=[("theirs__work", {})]).says("broken")

    run = load(rogue(mode)).run()

    assert run.outcome is Outcome.SUCCEEDED
    assert "the call of `work` failed" in results(run)[0]


def test_stop_during_a_hanging_handshake_leaves_no_process(load, tmp_path):
    handle = load(program(ROGUE, "hang-with-child", tmp_path / "pids"), agent=PATIENT).start()
    wait_for((tmp_path / "pids").exists)

    handle.cancel()
    run = handle.result()

    assert run.outcome is Outcome.ABORTED
    assert not any(is_running(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_stop_during_a_hanging_call_leaves_no_process(load, scripted_llm, tmp_path):
    scripted_llm.says(calls=[("theirs__work", {})])
    handle = load(program(ROGUE, "hang-call-with-child", tmp_path / "pids")).start()
    wait_for(lambda: "call" in ((tmp_path / "pids").read_text() if (tmp_path / "pids").exists() else ""))

    handle.cancel()
    run = handle.result()

    assert run.outcome is Outcome.ABORTED
    pids = (tmp_path / "pids").read_text().split()
    assert not any(is_running(int(pid)) for pid in pids if pid.isdigit())


@pytest.mark.parametrize(("mode", "word"), [("hang", "initialize"), ("hang-call", "tools/call")])
def test_stop_ends_what_hangs_at_an_address(load, rogue, logged, scripted_llm, mode, word):
    scripted_llm.says(calls=[("theirs__work", {})])
    handle = load(rogue(mode), agent=PATIENT).start()
    wait_for(lambda: word in logged())

    handle.cancel()
    run = handle.result()

    assert run.outcome is Outcome.ABORTED
    wait_for(lambda: "gone" in logged())


@pytest.fixture
def everything():
    """The server that its protocol's authors try clients with, at an address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [npm_server("server-everything"), "streamableHttp"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**os.environ, "PORT": str(port)}, **silent) as process:
        try:
            wait_for(lambda: is_open(port))
            yield f"endpoint: 'http://127.0.0.1:{port}/mcp'"
        finally:
            process.kill()


def is_open(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_everything_server_answers_at_an_address(load, scripted_llm, everything):
    scripted_llm.says(calls=[("theirs__echo", {"message": "hi"}), ("theirs__get-sum", {"a": 2, "b": 3})]).says("ok")

    run = load(everything).run()

    assert run.outcome is Outcome.SUCCEEDED
    assert results(run)[0] == "Echo: hi"
    assert "5" in results(run)[1]


QUICK = {"backoff_base_secs": 0.001}
NONE = {"default": QUICK}
DEFAULT_3 = {"default": {"max_attempts": 3, **QUICK}}


@pytest.mark.parametrize(
    ("layers", "fetches"),
    [
        (NONE, 2),
        (DEFAULT_3, 3),
        ({**NONE, "connector": {"max_attempts": 3}}, 3),
        ({**DEFAULT_3, "connector": {"max_attempts": 1}}, 1),
        ({**NONE, "tool": {"max_attempts": 4}}, 2),
    ],
)
def test_list_of_tools_is_fetched_again_as_connector_says(load, rogue, logged, scripted_llm, layers, fetches):
    agent = f"preflight: false\n  retry: {json.dumps(layers)}"

    run = load(rogue("down-list"), agent=agent, grant="{mcp: theirs, retry: {max_attempts: 5}}").run()

    assert run.outcome is Outcome.ERRORED
    assert logged().count("tools/list") == fetches
    assert scripted_llm.request_count == 0
    assert [event.effect for event in run.events if event.kind == "retry"] == ["connector"] * (fetches - 1)


@pytest.mark.parametrize(
    ("mode", "layers", "own", "calls"),
    [
        ("down-call", NONE, {}, 1),
        ("down-call", DEFAULT_3, {}, 3),
        ("down-call", {**NONE, "tool": {"max_attempts": 4}}, {}, 4),
        ("down-call", {**NONE, "connector": {"max_attempts": 4}}, {}, 1),
        ("down-call", {**NONE, "tool": {"max_attempts": 4}}, {"max_attempts": 2}, 2),
        ("down-call-retry", NONE, {}, 2),
        ("down-call-retry", {**NONE, "tool": {"max_attempts": 1}}, {}, 1),
        ("down-call-retry", {**NONE, "tool": {"max_attempts": 1}}, {"max_attempts": 3}, 3),
    ],
)
def test_call_of_a_server_is_made_again_as_tool_and_then_the_grant_say(
    load, rogue, logged, scripted_llm, mode, layers, own, calls
):
    scripted_llm.says(calls=[("theirs__work", {})]).says("it is down")
    grant = {"mcp": "theirs", **({"retry": own} if own else {})}

    run = load(rogue(mode), agent=f"retry: {json.dumps(layers)}", grant=json.dumps(grant)).run()

    assert run.outcome is Outcome.SUCCEEDED
    assert logged().count("tools/call") == calls
    assert "503" in results(run)[0]
    assert [event.effect for event in run.events if event.kind == "retry"] == ["tool"] * (calls - 1)
