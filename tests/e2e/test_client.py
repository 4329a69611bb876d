"""Runs whose model is reached through a client of the user's own, `source.client`."""

import json
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest

import stepsnb

PIPELINE = """
agents:
- name: guide
  source: {client: my_llm, model: tides-gpt}
  preflight: false
  retry: {llm: {backoff_base_secs: 0.1}}
  tools: [{python: look_up}]
jobs:
- name: tides
  plan:
  - agent: guide
    prompt: Say when the tide is high in Fowey.
"""
KEY = "sk-brought-along-0123456789"


def look_up(place: str) -> str:
    """Look up when the tide is high.

    Args:
        place: Name of the harbour.
    """
    return f"high tide in {place} at 05:12"


@pytest.fixture(params=[openai.OpenAI, openai.AsyncOpenAI], ids=["sync", "async"])
def my_llm(request, wire_server):
    return request.param(base_url=wire_server.base_url, api_key=KEY, max_retries=5)


def event(**choice):
    return b"data: " + json.dumps({"choices": [{"index": 0, **choice}]}).encode() + b"\n\n"


def streams_text(server, text):
    server.streams(event(delta={"content": text}), event(delta={}, finish_reason="stop"), b"data: [DONE]\n\n")


def streams_call(server, name, arguments):
    call = {"index": 0, "id": "c1", "function": {"name": name, "arguments": json.dumps(arguments)}}
    server.streams(
        event(delta={"tool_calls": [call]}), event(delta={}, finish_reason="tool_calls"), b"data: [DONE]\n\n"
    )


def run_with(client, tmp_path, name="my_llm"):
    return stepsnb.load(PIPELINE, functions={name: client, "look_up": look_up}).run(store=tmp_path / "store")


def test_conversation_with_a_tool_goes_through_the_users_client(my_llm, wire_server, tmp_path):
    streams_call(wire_server, "look_up", {"place": "Fowey"})
    streams_text(wire_server, "At 05:12.")
    run = run_with(my_llm, tmp_path)
    assert (run.outcome, run.text) == ("succeeded", "At 05:12.")
    first, second = wire_server.requests
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.json()["model"] == "tides-gpt"
    assert second.json()["messages"][-1]["content"] == "high tide in Fowey at 05:12"


def test_failed_request_is_repeated_by_us_alone(my_llm, wire_server, tmp_path):
    wire_server.says(500, {"error": {"message": "not now"}})
    streams_text(wire_server, "At 05:12.")
    assert run_with(my_llm, tmp_path).outcome == "succeeded"
    assert len(wire_server.requests) == 2


def test_attempts_of_one_give_one_request_whatever_the_clients_retries(my_llm, wire_server, tmp_path):
    for _ in range(6):
        wire_server.says(429, {"error": {"message": "not now"}})
    text = PIPELINE.replace("  retry: {llm: {backoff_base_secs: 0.1}}\n", "  attempts: 1\n")
    run = stepsnb.load(text, functions={"my_llm": my_llm, "look_up": look_up}).run(store=tmp_path / "store")
    assert run.outcome == "errored"
    assert "client `my_llm`: asked to slow down (429): not now" in run.error
    assert len(wire_server.requests) == 1


def test_key_of_a_client_is_in_no_error(my_llm, wire_server, tmp_path):
    wire_server.says(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    run = run_with(my_llm, tmp_path)
    assert run.outcome == "errored"
    assert "client `my_llm`: key refused (401); check the key the client was made with" in run.error
    assert KEY not in run.error


def test_variable_that_is_not_there_is_told_with_the_one_that_was_meant(my_llm, tmp_path):
    run = run_with(my_llm, tmp_path, name="my_lm")
    assert run.outcome == "errored"
    assert "`source.client: my_llm`: unknown variable `my_llm` (did you mean `my_lm`?)" in run.error


def test_runs_at_once_share_the_users_client(my_llm, wire_server, tmp_path):
    for _ in range(4):
        streams_text(wire_server, "At 05:12.")
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda number: run_with(my_llm, tmp_path / str(number)), range(4)))
    assert [run.outcome for run in runs] == ["succeeded"] * 4
