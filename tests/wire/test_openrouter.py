"""Which requests to OpenRouter share a session, each row of what the reference says, over whole runs."""

import msgspec
import pytest

import stepsnb
from stepsnb.llm import providers

from .conftest import call_piece, calls, words

AGENTS = """
agents:
- name: lead
  source: {model: openrouter/openai/gpt-5.4}
  context_window: 100000
  tools: [read_file, {agent: helper}]
- name: helper
  source: {model: openrouter/openai/gpt-5.4}
  context_window: 100000
"""


@pytest.fixture(autouse=True)
def openrouter(wire_server, monkeypatch):
    """Put the wire server in OpenRouter's place."""
    here = msgspec.structs.replace(providers.OPENROUTER, base_url=wire_server.base_url, has_model_windows=False)
    monkeypatch.setitem(providers.PROVIDERS, "openrouter", here)
    monkeypatch.setenv("OPENROUTER_API_KEY", "key-of-the-tests")


@pytest.fixture
def sessions(wire_server, tmp_path):
    """Run a plan and return the session of each request."""

    def sessions(plan: str, *answers, runs: int = 1) -> list[str]:
        for answer in answers:
            wire_server.streams(*answer)
        text = AGENTS + "jobs:\n- name: work\n  plan:\n" + plan
        for number in range(runs):
            stepsnb.load(text).run(store=tmp_path / f"store{number}")
        return [request.headers["x-session-id"] for request in wire_server.requests]

    return sessions


def test_turns_of_a_conversation_share_one(sessions):
    plan = "  - agent: lead\n    tools: [read_file]\n    prompt: Go.\n"
    first, second = sessions(plan, calls(call_piece("read_file", {"path": "x"})), words("done"))
    assert first == second
    assert len(first) <= 256


def test_visits_of_a_revise_loop_share_one(sessions, wire_server):
    plan = (
        "  - agent: helper\n    prompt: Write.\n"
        "  - agent: lead\n    prompt: Judge.\n    max_visits: 2\n    verdicts: [good, {bad: helper}]\n"
    )
    bad, good = [calls(call_piece("verdict", {"verdict": verdict}, id=verdict)) for verdict in ("bad", "good")]
    sessions(plan, words("a"), bad, words("Worse."), words("b"), good, words("Better."))
    found = {"Write.": set(), "Judge.": set()}
    for request in wire_server.requests:
        found[request.json()["messages"][1]["content"]].add(request.headers["x-session-id"])
    assert len(wire_server.requests) == 6
    assert [len(each) for each in found.values()] == [1, 1]
    assert found["Write."] != found["Judge."]


def test_calls_of_a_sub_agent_share_one_apart_from_its_callers(sessions):
    asked = [calls(call_piece("helper", {"request": text}, id=text)) for text in ("one", "two")]
    lead, helper, again, helper_again, last = sessions(
        "  - agent: lead\n    prompt: Go.\n", asked[0], words("1"), asked[1], words("2"), words("done")
    )
    assert lead == again == last
    assert helper == helper_again
    assert lead != helper


def test_fix_agent_has_that_of_its_agent(sessions):
    plan = "  - task: check\n    run: 'false'\n    fix: helper\n  - agent: helper\n    prompt: Go.\n"
    found = sessions(plan, words("I cannot."), words("done"))
    assert len(set(found)) == 1


def test_two_agents_of_a_job_have_their_own(sessions):
    plan = "  - agent: lead\n    prompt: Go.\n  - agent: helper\n    prompt: Go.\n"
    first, second = sessions(plan, words("1"), words("2"))
    assert first != second


def test_two_runs_have_their_own(sessions):
    first, second = sessions("  - agent: lead\n    prompt: Go.\n", words("1"), words("2"), runs=2)
    assert first != second


def test_retry_of_a_request_stays_in_its_session(sessions, wire_server):
    wire_server.says(503, {"error": {"message": "busy"}}, **{"Retry-After": "0"})
    first, second = sessions("  - agent: lead\n    prompt: Go.\n", words("done"))
    assert first == second


def test_no_other_provider_is_sent_one(wire_server, tmp_path):
    wire_server.streams(*words("done"))
    text = AGENTS.replace(
        "{model: openrouter/openai/gpt-5.4}", f"{{model: anthropic/claude, endpoint: '{wire_server.base_url}'}}"
    )
    stepsnb.load(f"{text}jobs:\n- name: work\n  plan: [{{agent: lead, prompt: Go.}}]\n").run(store=tmp_path / "store")
    request = wire_server.requests[0]
    assert "x-session-id" not in request.headers
    assert "cache_control" not in request.json()


def test_nothing_of_it_is_in_the_identity_of_a_step(tmp_path, monkeypatch):
    text = AGENTS + "jobs:\n- name: work\n  plan: [{agent: lead, prompt: Go.}]\n"
    before = stepsnb.load(text).plan(store=tmp_path / "store").to_dict()
    plain = msgspec.structs.replace(providers.PROVIDERS["openrouter"], pins_sessions=False, marks_cache=())
    monkeypatch.setitem(providers.PROVIDERS, "openrouter", plain)
    assert stepsnb.load(text).plan(store=tmp_path / "store").to_dict() == before
