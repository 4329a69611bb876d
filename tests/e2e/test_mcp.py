"""Agents that call tools of MCP servers: which tools they see, what comes back, what is left when a server fails."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stepsnb
from stepsnb.cli.main import main
from stepsnb.outcome import Outcome

SUPPORT = Path(__file__).parents[1] / "support"
SERVER = SUPPORT / "mcp_server.py"
ROGUE = SUPPORT / "mcp_rogue.py"


@pytest.fixture
def run(scripted_llm, tmp_path):
    """Run an agent with the given `tools:` of the server `notes`."""

    def run(*, server=None, grant="{mcp: notes}", agent="", step="", **options):
        server = server or program(SERVER)
        text = f"""
mcp_servers: [{{name: notes, {server}}}]
agents:
- name: clerk
  source: {{model: {scripted_llm.model}}}
  tools: [{grant}]
  {agent}
jobs:
- name: office
  plan:
  - agent: clerk
    prompt: Do it.
    {step}
"""
        return stepsnb.load(text).run(store=tmp_path / "store", **options)

    return run


def program(file, *args):
    return f"command: {json.dumps(sys.executable)}, args: {json.dumps([str(file), *map(str, args)])}"


def results(run):
    return [event.result for event in run.events if event.kind == "tool" and event.phase == "end"]


def offered(llm):
    return [tool["function"]["name"] for tool in llm.requests[0]["tools"]]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_agent_calls_a_tool_of_a_program(run, scripted_llm):
    scripted_llm.says(calls=[("notes__add", {"a": 2, "b": 3})]).says("5")

    ended = run()

    assert ended.outcome is Outcome.SUCCEEDED
    assert results(ended) == ["5"]
    assert offered(scripted_llm) == ["notes__add", "notes__environment", "notes__where", "notes__long_text"]


@pytest.mark.parametrize(
    ("grant", "step", "names"),
    [
        ("{mcp: notes, tool: add, description: Sums.}", "", ["notes__add"]),
        ("{mcp: notes, tools: [where, add]}", "", ["notes__where", "notes__add"]),
        ("{mcp: notes}", "tools: [notes__add]", ["notes__add"]),
    ],
)
def test_agent_sees_what_it_is_granted(run, scripted_llm, grant, step, names):
    scripted_llm.says("ok")

    run(grant=grant, step=step)

    assert offered(scripted_llm) == names


def test_unknown_tool_ends_the_step_before_a_request(run, scripted_llm):
    ended = run(grant="{mcp: notes, tool: ad}")

    assert ended.outcome is Outcome.ERRORED
    assert "MCP server `notes`: unknown tool `ad` (did you mean `add`?)" in ended.steps[0].reason
    assert scripted_llm.request_count == 0


def test_calls_of_one_run_reach_one_process_in_the_folder_of_the_pipeline(run, scripted_llm):
    scripted_llm.says(calls=[("notes__where", {})]).says(calls=[("notes__where", {})]).says("ok")

    ended = run()

    first, second = (text.split() for text in results(ended))
    assert first == second
    assert first[1] == str(Path.cwd())
    assert not is_running(int(first[0]))


def test_program_is_not_given_keys_of_providers(run, scripted_llm, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-secret-of-tests")
    monkeypatch.setenv("NOTES_TOKEN", "token-of-the-notes-server")
    scripted_llm.says(calls=[("notes__environment", {})]).says("ok")

    ended = run(server=program(SERVER) + ", auth: {type: bearer, api_key_env: NOTES_TOKEN}")

    names = results(ended)[0].split()
    assert "OPENROUTER_API_KEY" not in names
    assert {"PATH", "NOTES_TOKEN"} <= {*names}


def test_required_tool_is_owed_and_its_calls_are_bounded(run, scripted_llm):
    call = ("notes__add", {"a": 1, "b": 1})
    scripted_llm.says(calls=[call]).says(calls=[call]).says("2")

    ended = run(grant="{mcp: notes, tool: add, required: true, max_calls: 1}")

    assert ended.outcome is Outcome.SUCCEEDED
    assert "may be called once" in results(ended)[1]


def test_long_result_becomes_a_file(run, scripted_llm):
    scripted_llm.says(calls=[("notes__long_text", {"lines": 500})]).says("ok")

    ended = run(grant="{mcp: notes, tool: long_text, max_output_bytes: 1000}")

    assert "<persistent_file" in results(ended)[0]


def test_server_that_ends_at_its_start_is_named_with_its_last_words(run, scripted_llm):
    ended = run(server=program(ROGUE, "exit"))

    assert ended.outcome is Outcome.ERRORED
    assert "MCP server `notes`: it cannot be reached" in ended.steps[0].reason
    assert "no licence found" in ended.steps[0].reason
    assert scripted_llm.request_count == 0


def test_program_that_is_not_there_is_named(run):
    ended = run(server="command: no-such-program-of-tests")

    assert "`no-such-program-of-tests` cannot be started: no such file or directory" in ended.steps[0].reason


def test_server_that_never_answers_is_given_up(run):
    ended = run(
        server=program(ROGUE, "hang"),
        agent="retry: {connector: {run_timeout_secs: 1, total_timeout_secs: 1, max_attempts: 1}}",
    )

    assert ended.outcome is Outcome.ERRORED
    assert "deadline exceeded" in ended.steps[0].reason


def test_junk_on_stdout_is_passed_over(run, scripted_llm):
    scripted_llm.says(calls=[("notes__work", {})]).says("ok")

    assert results(run(server=program(ROGUE, "junk"))) == ["done"]


def test_server_that_dies_in_a_call_is_data_and_starts_again_for_the_next(run, scripted_llm, tmp_path):
    calls = tmp_path / "calls"
    scripted_llm.says(calls=[("notes__work", {})]).says(calls=[("notes__work", {})]).says("it is broken")

    ended = run(server=program(ROGUE, "die", calls))

    assert ended.outcome is Outcome.SUCCEEDED
    assert len(results(ended)) == 2
    assert "the call of `work` failed" in results(ended)[0]
    assert "out of cheese" in results(ended)[0]
    assert calls.read_text() == "xx"


def test_call_that_the_server_calls_idempotent_is_made_twice(run, scripted_llm, tmp_path):
    calls = tmp_path / "calls"
    scripted_llm.says(calls=[("notes__work", {})]).says("it is broken")

    ended = run(server=program(ROGUE, "die-idempotent", calls))

    assert "(tried 2 times)" in results(ended)[0]
    assert calls.read_text() == "xx"


def test_call_that_hangs_ends_at_its_deadline(run, scripted_llm):
    scripted_llm.says(calls=[("notes__work", {})]).says("too slow")

    ended = run(server=program(ROGUE, "hang-call"), grant="{mcp: notes, timeout: 1s}")

    assert ended.outcome is Outcome.SUCCEEDED
    assert "timed out after 1 s" in results(ended)[0]


def test_message_of_50_mb_is_refused_as_data(run, scripted_llm):
    scripted_llm.says(calls=[("notes__work", {})]).says("too much")

    ended = run(server=program(ROGUE, "huge"))

    assert ended.outcome is Outcome.SUCCEEDED
    assert "a message of more than 16,000,000 bytes" in results(ended)[0]


def test_tool_that_is_gone_by_the_call_is_data(run, scripted_llm):
    scripted_llm.says(calls=[("notes__work", {})]).says("gone")

    assert "no such tool: work" in results(run(server=program(ROGUE, "refuse")))[0]


def test_what_a_server_started_ends_with_the_run(run, scripted_llm, tmp_path):
    scripted_llm.says("ok")

    run(server=program(ROGUE, "child", tmp_path / "child"))

    assert not any(is_running(int(pid)) for pid in (tmp_path / "child").read_text().split())


@pytest.fixture
def address():
    """An HTTP server that wants a token."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([sys.executable, SERVER, str(port), "token-of-the-notes-server"]) as process:
        try:
            for _ in range(600):
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"endpoint: http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def test_agent_calls_a_tool_at_an_address_with_a_token(run, scripted_llm, monkeypatch, address):
    monkeypatch.setenv("NOTES_TOKEN", "token-of-the-notes-server")
    scripted_llm.says(calls=[("notes__add", {"a": 2, "b": 3})]).says("5")

    ended = run(server=f"{address}, auth: {{type: bearer, api_key_env: NOTES_TOKEN}}")

    assert results(ended) == ["5"]


def test_refused_token_ends_the_step_before_a_request(run, scripted_llm, monkeypatch, address):
    monkeypatch.setenv("NOTES_TOKEN", "another-token-of-tests")

    ended = run(server=f"{address}, auth: {{type: bearer, api_key_env: NOTES_TOKEN}}")

    assert ended.outcome is Outcome.ERRORED
    assert "401" in ended.steps[0].reason
    assert "another-token" not in ended.steps[0].reason
    assert scripted_llm.request_count == 0


def test_token_that_is_not_set_is_named(run):
    ended = run(server="endpoint: 'http://127.0.0.1:9/mcp', auth: {type: bearer, api_key_env: NO_TOKEN_OF_TESTS}")

    assert "NO_TOKEN_OF_TESTS is not set" in ended.steps[0].reason


def pipeline_file(tmp_path):
    file = tmp_path / "office.yml"
    task = "{name: office, plan: [{task: make, run: 'true'}]}"
    file.write_text(f"mcp_servers: [{{name: notes, {program(SERVER)}}}]\njobs: [{task}]\n")
    return file


def test_servers_are_listed_without_being_started(tmp_path):
    frame = stepsnb.mcp(pipeline_file(tmp_path))

    assert frame[["server", "transport", "auth"]].to_numpy().tolist() == [["notes", "stdio", "none"]]


def test_tools_of_a_server_are_listed(tmp_path):
    frame = stepsnb.mcp(pipeline_file(tmp_path), "notes")

    assert frame.iloc[0].to_dict() == {
        "tool": "add",
        "name": "notes__add",
        "description": "Add two numbers.",
        "arguments": "a, b",
        "read_only": True,
        "idempotent": False,
    }


def test_shell_lists_tools_of_a_server(tmp_path, capsys):
    assert main(["mcp", "tools", str(pipeline_file(tmp_path)), "notes"]) == 0

    assert "notes__add" in capsys.readouterr().out


def test_unknown_server_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(stepsnb.StepsError, match=r"unknown MCP server `note` .did you mean `notes`"):
        stepsnb.mcp(pipeline_file(tmp_path), "note")
