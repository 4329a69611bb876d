"""Before a run does anything it is made sure that the models and servers of its agents are there."""

import json
import sys
import threading
from pathlib import Path

import pytest

import stepsnb
from stepsnb.cli.main import main
from stepsnb.outcome import Outcome
from tests.llm.conftest import DONE, delta
from tests.support.wire_server import WireServer

NOBODY = "http://127.0.0.1:9/v1"
QUICK = {"llm": {"backoff_base_secs": 0.001}}
SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"


@pytest.fixture
def second_server():
    """Where a fallback is served."""
    server = WireServer(queues_probes=True)
    yield server
    server.close()


@pytest.fixture
def load(wire_server):
    """Load a job of these steps, whose agent `a` is at the wire server; `others` are more agents."""
    wire_server.queues_probes = True

    def load(*steps, defaults=None, others=(), **agent):
        source = {"model": "m1", "endpoint": wire_server.base_url}
        first = {"name": "a", "source": source, "context_window": 9000, "retry": QUICK, "tools": [], **agent}
        text = {"agents": [first, *others], "jobs": [{"name": "job", "plan": list(steps)}]}
        if defaults is not None:
            text["defaults"] = {"preflight": defaults}
        return stepsnb.load(json.dumps(text))

    return load


@pytest.fixture
def run(load, tmp_path):
    """Load and run."""

    def run(*steps, **keys):
        return load(*steps, **keys).run(store=tmp_path / "store")

    return run


GO = {"agent": "a", "prompt": "Go."}
KEPT = {**GO, "outputs": ["words"]}
FIRST = {"task": "first", "run": "echo > done/it", "outputs": ["done"]}


def answer(server, text="Done."):
    server.streams(delta(content=text), delta("stop"), DONE)


def asked(server):
    return [(received.method, received.path.removeprefix("/v1/")) for received in server.requests]


def notes(result):
    return [event.text for event in result.events if event.kind == "note"]


PROBE, REPLY = ("GET", "models"), ("POST", "chat/completions")


def test_model_that_is_not_there_is_known_before_the_first_step(run, tmp_path):
    result = run(FIRST, GO, source={"model": "m1", "endpoint": NOBODY})
    assert (result.outcome, [step.name for step in result.steps]) == (Outcome.ERRORED, ["first"])
    assert "preflight: agent `a`: after 3 attempts: endpoint `http://127.0.0.1:9/v1`: nothing answers" in result.error
    assert "no step was begun (`preflight: false` leaves the probe out)" in result.error
    assert not list(tmp_path.rglob("done"))


def test_step_that_would_find_it_out_at_once_does_so_and_its_requests_are_recorded(run):
    result = run(GO, source={"model": "m1", "endpoint": NOBODY})
    assert (result.outcome, "preflight" in result.error) == (Outcome.ERRORED, False)
    assert len([event for event in result.events if event.kind == "request"]) == 3


def test_all_that_is_wrong_is_said_at_once(run, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    others = [{"name": "b", "source": {"model": "openai/x"}}]
    result = run(GO, {"agent": "b", "prompt": "Go."}, others=others, source={"model": "m1", "endpoint": NOBODY})
    assert "agent `a`: endpoint `http://127.0.0.1:9/v1`: nothing answers" in result.error
    assert "agent `b`: provider `openai`: OPENAI_API_KEY is not set" in result.error


def test_model_of_a_sub_agent_is_looked_for_too(run, wire_server):
    others = [{"name": "helper", "source": {"model": "m1", "endpoint": NOBODY}, "retry": QUICK}]
    wire_server.says(404, {})
    result = run(FIRST, GO, others=others, tools=[{"agent": "helper"}])
    assert (result.outcome, "agent `helper`: after 3 attempts" in result.error) == (Outcome.ERRORED, True)
    assert asked(wire_server) == [PROBE]


def test_who_answers_in_peoples_place_may_be_down(run, wire_server):
    others = [{"name": "oracle", "source": {"model": "m1", "endpoint": NOBODY}, "retry": QUICK}]
    wire_server.says(404, {})
    answer(wire_server)
    result = run(FIRST, GO, others=others, tools=[{"builtin": "ask_user", "answered_by": "oracle"}])
    assert result.outcome is Outcome.SUCCEEDED, result.error


def test_good_model_is_asked_once_and_then_trusted(run, wire_server):
    wire_server.says(404, {})
    answer(wire_server)
    answer(wire_server)
    assert [run(GO).outcome, run({**GO, "prompt": "Again."}).outcome] == ["succeeded"] * 2
    assert asked(wire_server) == [PROBE, REPLY, REPLY]


def test_without_trust_each_run_asks(run, wire_server):
    for _ in range(2):
        wire_server.says(404, {})
        answer(wire_server)
    run(GO, defaults={"cache": "0"})
    run({**GO, "prompt": "Again."}, defaults={"cache": "0"})
    assert asked(wire_server) == [PROBE, REPLY, PROBE, REPLY]


@pytest.mark.parametrize(
    ("defaults", "own", "first"),
    [(None, False, REPLY), (False, None, REPLY), (False, True, PROBE), (True, None, PROBE), ({}, False, REPLY)],
)
def test_agent_and_defaults_say_whether_there_is_a_probe(run, wire_server, defaults, own, first):
    if first == PROBE:
        wire_server.says(404, {})
    answer(wire_server)
    keys = {} if own is None else {"preflight": own}
    assert run(GO, defaults=defaults, **keys).outcome is Outcome.SUCCEEDED
    assert asked(wire_server)[0] == first


def test_run_that_has_nothing_left_to_do_asks_nobody(run, wire_server):
    wire_server.says(404, {})
    answer(wire_server)
    run(FIRST, KEPT, defaults={"cache": "0"})
    before = asked(wire_server)
    again = run(FIRST, KEPT, defaults={"cache": "0"})
    assert (again.outcome, [step.outcome for step in again.steps]) == ("succeeded", ["reused", "reused"])
    assert asked(wire_server) == before


def test_step_that_is_reused_needs_no_model_though_a_later_one_runs(run, wire_server):
    wire_server.says(404, {})
    answer(wire_server)
    run(KEPT, FIRST, defaults={"cache": "0"})
    wire_server.close()
    again = run(KEPT, {**FIRST, "run": "echo 2 > done/it"}, defaults={"cache": "0"})
    assert [step.outcome for step in again.steps] == ["reused", "succeeded"]


def test_probe_is_tried_again_as_a_request_would_be(run, wire_server):
    wire_server.says(503, {})
    wire_server.says(404, {})
    answer(wire_server)
    assert run(FIRST, GO).outcome is Outcome.SUCCEEDED
    assert asked(wire_server) == [PROBE, PROBE, REPLY]


def test_timeout_is_that_of_all_tries(run, wire_server):
    wire_server.answers(30.0)
    result = run(GO, defaults={"timeout": "1s"}, attempts=1)
    assert (result.outcome, "it was not there within 1 s (`preflight.timeout:`)" in result.error) == (
        Outcome.ERRORED,
        True,
    )


def test_refused_key_ends_the_run_and_no_fallback_is_asked(run, wire_server, second_server):
    wire_server.says(401, {"error": {"message": "who are you"}})
    result = run(GO, fallback=[{"source": {"model": "m2", "endpoint": second_server.base_url}}])
    assert (result.outcome, "a key is wanted (401)" in result.error) == (Outcome.ERRORED, True)
    assert asked(second_server) == []


def test_fallback_takes_over_before_anything_is_sent(run, wire_server, second_server):
    wire_server.says(503, {"error": {"message": "overloaded"}})
    second_server.says(404, {})
    answer(second_server, "Served.")
    result = run(GO, fallback=[{"source": {"model": "m2", "endpoint": second_server.base_url}}])
    assert (result.outcome, result.text) == (Outcome.SUCCEEDED, "Served.")
    assert (asked(wire_server), asked(second_server)) == ([PROBE], [PROBE, REPLY])
    (ended,) = [event for event in result.events if event.kind == "step_finished"]
    assert ended.fallback_model == "m2"
    assert any("overloaded" in text and "so `m2` is asked in its place" in text for text in notes(result))


def test_whole_cascade_that_is_down_names_each(run, wire_server, second_server):
    wire_server.says(503, {"error": {"message": "first is full"}})
    for _ in range(3):
        second_server.says(502, {"error": {"message": "second is gone"}})
    result = run(GO, fallback=[{"source": {"model": "m2", "endpoint": second_server.base_url}}])
    assert (result.outcome, result.steps[0].text) == (Outcome.ERRORED, None)
    assert "first is full" in result.error
    assert "second is gone" in result.error


def test_hooks_clean_up_though_no_step_was_begun(run):
    hook = {"task": "clean", "run": "echo > clean/up", "outputs": ["clean"]}
    result = run({**FIRST, "ensure": hook}, GO, source={"model": "m1", "endpoint": NOBODY})
    assert [(step.name, step.outcome) for step in result.steps] == [("first", "errored"), ("clean", "succeeded")]


def test_a_step_that_may_fail_does_not_let_the_next_one_begin(run):
    result = run({"try": FIRST}, {**FIRST, "task": "second"}, GO, source={"model": "m1", "endpoint": NOBODY})
    assert [(step.name, step.outcome) for step in result.steps] == [("first", "errored"), ("second", "errored")]


def test_branches_at_the_same_time_wait_for_the_same_probe(run, wire_server):
    wire_server.says(404, {})
    for _ in range(3):
        answer(wire_server)
    branches = [{**GO, "prompt": f"Part {n}."} for n in range(3)]
    assert run({"in_parallel": branches}).outcome is Outcome.SUCCEEDED
    assert asked(wire_server) == [PROBE, *[REPLY] * 3]


def test_agents_of_one_model_are_one_request(run, wire_server):
    wire_server.says(404, {})
    others = [{"name": f"a{n}", "source": {"model": "m1", "endpoint": wire_server.base_url}} for n in range(50)]
    steps = [{"agent": each["name"], "prompt": "Go.", "when": "false"} for each in others]
    answer(wire_server)
    assert run(GO, *steps, others=others, defaults={"cache": "0"}).outcome is Outcome.SUCCEEDED
    assert asked(wire_server) == [PROBE, REPLY]


def test_step_that_is_called_off_during_the_probes_leaves_them_to_the_next(run, wire_server, tmp_path):
    wire_server.answers(60.0).says(404, {})
    others = [{"name": "b", "source": {"model": "m1", "endpoint": NOBODY}, "retry": QUICK}]
    late = {"try": {"do": [GO], "timeout": "300ms"}}
    result = run(late, FIRST, {"agent": "b", "prompt": "Go."}, others=others)
    assert (result.outcome, "preflight: agent `b`: after 3 attempts" in result.error) == (Outcome.ERRORED, True)
    assert not list(tmp_path.rglob("done"))


def test_stop_ends_a_probe(load, wire_server, tmp_path):
    wire_server.answers(60.0)
    handle = load(GO, defaults={"timeout": "50s"}).start(store=tmp_path / "store")
    threading.Timer(0.5, handle.cancel).start()
    result = handle.result()
    assert (result.outcome, wire_server.client_left.wait(5)) == (Outcome.ABORTED, True)


def test_model_that_a_list_lacks_is_told_of_and_asked_all_the_same(run, wire_server):
    wire_server.says(200, {"data": [{"id": "m10"}, {"id": "other"}]})
    answer(wire_server)
    result = run(GO)
    assert result.outcome is Outcome.SUCCEEDED
    assert any("its list of models has no `m1` (did you mean `m10`?)" in text for text in notes(result))


def test_tool_that_a_server_has_not_is_known_before_the_first_step(scripted_llm, tmp_path):
    server = {"name": "notes", "command": sys.executable, "args": [str(SERVER)]}
    agent = {"name": "a", "source": {"model": scripted_llm.model}, "tools": [{"mcp": "notes", "tool": "ad"}]}
    text = {"mcp_servers": [server], "agents": [agent], "jobs": [{"name": "job", "plan": [FIRST, GO]}]}
    result = stepsnb.load(json.dumps(text)).run(store=tmp_path / "store")
    assert [step.name for step in result.steps] == ["first"]
    assert "agent `a`: MCP server `notes`: unknown tool `ad` (did you mean `add`?)" in result.error
    assert scripted_llm.request_count == 0


def test_verb_tells_of_every_model_and_server(load, wire_server, second_server, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    wire_server.says(503, {"error": {"message": "overloaded"}})
    second_server.says(404, {})
    second = {"model": "m2", "endpoint": second_server.base_url}
    server = {"name": "notes", "command": sys.executable, "args": [str(SERVER)]}
    first = {"model": "m1", "endpoint": wire_server.base_url}
    agents = [
        {"name": "a", "source": first, "fallback": [{"source": second}], "tools": [{"mcp": "notes"}]},
        {"name": "b", "source": {"model": "openai/x"}},
        {"name": "c", "source": {"model": "scripted/nobody.yml"}},
    ]
    text = {"mcp_servers": [server], "agents": agents, "jobs": [{"name": "job", "plan": [GO]}]}
    file = tmp_path / "pipeline.yml"
    file.write_text(json.dumps(text))

    found = stepsnb.preflight(file)

    rows = found[["kind", "name", "source", "model", "status"]].fillna(-1).values.tolist()
    assert rows == [
        ["model", "a", 0, "m1", "down"],
        ["model", "a", 1, "m2", "ready"],
        ["model", "b", 0, "openai/x", "refused"],
        ["model", "c", 0, "scripted/nobody.yml", "not probed"],
        ["server", "notes", -1, "", "ready"],
    ]
    assert "overloaded" in found["detail"][0]
    assert main(["preflight", str(file), "--json"]) == 1  # `b` has no model that can be used
    assert [row["status"] for row in json.loads(capsys.readouterr().out)][2:4] == ["refused", "not probed"]


def test_verb_is_content_with_a_fallback_and_shows_why(load, wire_server, second_server, tmp_path, capsys):
    wire_server.says(503, {"error": {"message": "overloaded"}})
    second_server.says(404, {})
    second = {"model": "m2", "endpoint": second_server.base_url}
    agent = {"name": "a", "source": {"model": "m1", "endpoint": wire_server.base_url}, "fallback": [{"source": second}]}
    file = tmp_path / "pipeline.yml"
    file.write_text(json.dumps({"agents": [agent], "jobs": [{"name": "job", "plan": [GO]}]}))

    assert main(["preflight", str(file), "job"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("NAME", "down", "ready", "overloaded"))


def test_verb_asks_even_whom_it_trusts(load, wire_server):
    pipeline = load(GO)
    for _ in range(2):
        wire_server.says(404, {})
        assert list(stepsnb.preflight(pipeline)["status"]) == ["ready"]
    assert asked(wire_server) == [PROBE, PROBE]


def test_verb_knows_an_unknown_job(load):
    with pytest.raises(stepsnb.StepsError, match=r"unknown job `jobb` \(did you mean `job`"):
        stepsnb.preflight(load(GO), "jobb")


BOARD = Path(__file__).parents[1] / "support" / "mcp_board.py"
POST = "{tool: post_note, args: {text: x}}"
NOTICE = """
mcp_servers: [{name: board, command: PYTHON, args: [BOARD, NOTES]}]
resource_types: [{name: notice, mcp: {server: board, check: list_notes, out: OUT}}]
resources: [{name: notes, type: notice}]
DEFAULTS
jobs: [{name: job, plan: [{task: first, run: 'true'}, {put: notes}]}]
"""


@pytest.fixture
def pinboard(tmp_path):
    """Where the server keeps its notes."""
    (folder := tmp_path / "notes").mkdir()
    return folder


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("{tool: post_note, args: {txt: x}}", "unknown argument `txt` (did you mean `text`?)"),
        ("post_note", "it needs the argument `text`; give it under `args:`"),
        ("post_notes", "unknown tool `post_notes` (did you mean `post_note`?)"),
    ],
)
def test_arguments_of_a_resources_tools_are_checked_before_the_first_step(pinboard, tmp_path, out, words):
    text = NOTICE.replace("PYTHON", sys.executable).replace("BOARD", str(BOARD)).replace("NOTES", str(pinboard))
    result = stepsnb.run(text.replace("OUT", out).replace("DEFAULTS", ""), store=tmp_path / "store")
    assert ([step.name for step in result.steps], result.outcome) == (["first"], Outcome.ERRORED)
    assert "preflight: resource type `notice`, `out:`: " in result.error
    assert words in result.error
    off = text.replace("OUT", out).replace("DEFAULTS", "defaults: {preflight: false}")
    later = stepsnb.run(off, store=tmp_path / "store")
    assert ([step.name for step in later.steps], words in later.error) == (["first", "notes"], True)


def test_good_arguments_of_a_resources_tools_pass(pinboard, tmp_path):
    text = NOTICE.replace("PYTHON", sys.executable).replace("BOARD", str(BOARD)).replace("NOTES", str(pinboard))
    result = stepsnb.run(text.replace("OUT", POST).replace("DEFAULTS", ""), store=tmp_path / "store")
    assert result.outcome is Outcome.SUCCEEDED, result.error
