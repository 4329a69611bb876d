"""MCP servers that other people wrote, as agents use them; `tests/prepare.py` installs them."""

import stepsnb
from stepsnb.outcome import Outcome
from tests.support.mcp_servers import npm_server


def run_with(scripted_llm, tmp_path, server):
    text = f"""
mcp_servers: [{{name: theirs, {server}}}]
agents: [{{name: clerk, source: {{model: {scripted_llm.model}}}, tools: [{{mcp: theirs}}]}}]
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
