"""MCP servers that other people wrote, as agents use them; `tests/prepare.py` installs them."""

import json
import subprocess

import pytest

import stepsnb
from stepsnb.outcome import Outcome
from tests.support.mcp_servers import npm_server, python_server

BERGEN = {"source_timezone": "Europe/Oslo", "time": "16:30", "target_timezone": "Asia/Tokyo"}


def run_with(scripted_llm, tmp_path, server, grant="{mcp: theirs}"):
    text = f"""
mcp_servers: [{{name: theirs, {server}}}]
agents: [{{name: clerk, source: {{model: {scripted_llm.model}}}, tools: [{grant}]}}]
jobs: [{{name: office, plan: [{{agent: clerk, prompt: Do it.}}]}}]
"""
    run = stepsnb.load(text).run(store=tmp_path / "store")
    return run, [event.result for event in run.events if event.kind == "tool" and event.phase == "end"]


def test_file_server_reads_its_folder_and_refuses_what_is_outside(scripted_llm, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("hello from the folder")
    scripted_llm.says(calls=[("theirs__read_text_file", {"path": str(root / "a.txt")})])
    scripted_llm.says(calls=[("theirs__read_text_file", {"path": "/etc/passwd"})]).says("ok")

    server = f"command: {npm_server('server-filesystem')}, args: [{root}]"
    run, (inside, outside) = run_with(scripted_llm, tmp_path, server)

    assert run.outcome is Outcome.SUCCEEDED
    assert inside == "hello from the folder"
    assert "outside allowed directories" in outside


def test_everything_server_answers_with_text_pictures_and_structure(scripted_llm, tmp_path):
    scripted_llm.says(calls=[("theirs__echo", {"message": "hi"}), ("theirs__get-tiny-image", {})]).says("ok")

    run, (echo, picture) = run_with(
        scripted_llm, tmp_path, f"command: {npm_server('server-everything')}, args: [stdio]"
    )

    assert run.outcome is Outcome.SUCCEEDED
    assert echo == "Echo: hi"
    assert "[image image/png" in picture


def offered(llm):
    return [tool["function"]["name"] for tool in llm.requests[0]["tools"]]


def told(llm):
    return [message["content"] for message in llm.requests[-1]["messages"] if message["role"] == "tool"]


def time_server():
    return f"command: {python_server('mcp-server-time')}, args: [--local-timezone, Europe/Oslo]"


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit, `Note the tide`, and one file that is not committed."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "note.txt").write_text("high at noon")
    named = ["-c", "user.name=Kari", "-c", "user.email=kari@harbour.example", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*named, "commit", "-q", "-m", "Note the tide"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / "draft.txt").write_text("low at six")
    return folder


def test_time_server_converts_a_time(scripted_llm, tmp_path):
    scripted_llm.says(calls=[("theirs__convert_time", BERGEN)]).says("in the night")

    run, (converted,) = run_with(scripted_llm, tmp_path, time_server())

    assert run.outcome is Outcome.SUCCEEDED
    assert json.loads(converted)["source"]["timezone"] == "Europe/Oslo"
    assert "T16:30:00" in converted
    assert offered(scripted_llm) == ["theirs__get_current_time", "theirs__convert_time"]
    assert told(scripted_llm) == [converted]


def test_time_server_says_what_is_wrong_with_a_zone(scripted_llm, tmp_path):
    scripted_llm.says(calls=[("theirs__get_current_time", {"timezone": "Europe/Atlantis"})]).says("no such place")

    run, (refused,) = run_with(scripted_llm, tmp_path, time_server())

    assert run.outcome is Outcome.SUCCEEDED
    assert "Atlantis" in json.loads(refused)["error"]


def test_git_server_shows_the_log_and_the_state_of_a_repository(scripted_llm, tmp_path, repository):
    where = {"repo_path": str(repository)}
    scripted_llm.says(calls=[("theirs__git_log", where), ("theirs__git_status", where)]).says("ok")

    server = f"command: {python_server('mcp-server-git')}, args: [--repository, {repository}]"
    run, (log, status) = run_with(scripted_llm, tmp_path, server)

    assert run.outcome is Outcome.SUCCEEDED
    assert "Note the tide" in log
    assert "draft.txt" in status


def test_git_server_offers_what_its_grant_names_and_no_more(scripted_llm, tmp_path, repository):
    scripted_llm.says("ok")

    server = f"command: {python_server('mcp-server-git')}, args: [--repository, {repository}]"
    run_with(scripted_llm, tmp_path, server, "{mcp: theirs, tools: [git_status, git_log]}")

    assert offered(scripted_llm) == ["theirs__git_status", "theirs__git_log"]


def test_calls_of_the_time_server_are_counted(scripted_llm, tmp_path):
    for _ in range(2):
        scripted_llm.says(calls=[("theirs__convert_time", BERGEN)])
    scripted_llm.says("ok")

    grant = "{mcp: theirs, tool: convert_time, max_calls: 1, required: true}"
    run, (first, second) = run_with(scripted_llm, tmp_path, time_server(), grant)

    assert run.outcome is Outcome.SUCCEEDED
    assert "T16:30:00" in first
    assert "may be called once" in second
