"""A run against a model is recorded, and replayed without the model, a network or a key."""

import json
import stat

import openai
import pytest
import yaml

import stepsnb
from stepsnb.cli.main import main
from stepsnb.errors import InputError
from stepsnb.outcome import Outcome
from tests.llm.conftest import DONE, delta, event

USAGE = event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})
PIPELINE = """
prices: {m1: {input: 1, output: 2}}
agents:
- name: clerk
  source: {model: m1, endpoint: ((endpoint)), api_key_env: CASSETTE_KEY}
  context_window: 9000
  temperature: ((warmth))
  tools: ((tools))
  retry: {llm: {backoff_base_secs: 0.001}}
jobs:
- name: job
  plan:
  - {task: make, run: 'echo ((word)) > notes/a.txt', outputs: [notes]}
  - {agent: clerk, inputs: [notes], prompt: ((prompt))}
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("CASSETTE_KEY", "sk-secret-of-the-cassette-tests")


@pytest.fixture
def run(wire_server, tmp_path):
    """Run the clerk, recording or replaying."""

    def run(prompt="Go.", warmth=0.5, tools="[read_file]", word="tide", **options):
        values = {"prompt": prompt, "warmth": warmth, "word": word, "endpoint": wire_server.base_url}
        text = PIPELINE.replace("((tools))", tools)
        return stepsnb.run(text, vars=values, store=tmp_path / "store", **options)

    return run


@pytest.fixture
def cassette(tmp_path):
    return tmp_path / "tapes" / "job.yml"


def calls(name, arguments):
    piece = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [delta(tool_calls=[piece]), delta("tool_calls"), USAGE, DONE]


def words(*texts):
    return [*(delta(content=text) for text in texts), delta("stop"), USAGE, DONE]


def record(run, server, cassette, **options):
    server.streams(*calls("read_file", '{"path": "notes/a.txt"}'))
    server.streams(*words("It says", " tide."))
    result = run(record=cassette, **options)
    assert result.outcome is Outcome.SUCCEEDED, result.error
    server.close()
    return result


def summary(result):
    return (result.outcome, result.text, result.tokens, result.cost, [step.outcome for step in result.steps])


def test_replay_is_the_run_again_without_server_or_key(run, wire_server, cassette, monkeypatch):
    recorded = record(run, wire_server, cassette)
    monkeypatch.delenv("CASSETTE_KEY")

    replayed = run(replay=cassette)

    assert summary(replayed)[:4] == summary(recorded)[:4]
    assert replayed.text == "It says tide."
    kinds = [
        [event.kind for event in each.events if event.kind in ("tool", "message")] for each in (recorded, replayed)
    ]
    assert kinds[0] == kinds[1]


def test_secrets_and_headers_are_not_in_the_file_and_it_is_for_its_user_alone(run, wire_server, cassette):
    wire_server.streams(
        b'data: {"choices": [{"delta": {"content": "It is sk-secret-of-', b'the-cassette-tests."}}]}\n\n'
    )
    wire_server.streams(*words("Done."))
    run("Say sk-secret-of-the-cassette-tests.", record=cassette)
    text = cassette.read_text()
    assert "sk-secret-of" not in text
    assert "authorization" not in text.lower()
    assert stat.S_IMODE(cassette.stat().st_mode) == 0o600


def test_file_is_readable_yaml_with_a_version_and_each_message_once(run, wire_server, cassette):
    record(run, wire_server, cassette)
    tree = yaml.safe_load(cassette.read_text())
    assert (tree["version"], len(tree["exchanges"])) == (1, 2)
    assert [len(exchange["messages"]) for exchange in tree["exchanges"]] == [2, 4]
    assert len(tree["parts"]) == 4 + 1  # the messages, and the tools


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prompt": "Stop."}, "message 2 is another one: recorded `user: Go.`, now `user: Stop.`"),
        ({"warmth": 0.7}, "`temperature` is another: recorded 0.5, now 0.7"),
        ({"tools": "[read_file, list_dir]"}, "the tools are others: recorded read_file, now read_file, list_dir"),
        ({"word": "ebb"}, "message 4 is another one"),
    ],
)
def test_request_that_is_not_there_is_refused_with_what_is_different(run, wire_server, cassette, change, words):
    record(run, wire_server, cassette)
    result = run(**change, replay=cassette)
    assert result.outcome is Outcome.ERRORED
    assert words in result.error
    assert "record it again" in result.error


def test_equal_requests_are_answered_in_the_order_they_were_made(run, wire_server, cassette, tmp_path):
    text = (
        PIPELINE.split("jobs:")[0].replace("((tools))", "[]")
        + """
jobs:
- name: job
  plan:
  - {agent: clerk, prompt: Go.}
  - {agent: clerk, prompt: Go.}
"""
    )
    values = {"warmth": 0, "endpoint": wire_server.base_url}
    for said in ("First.", "Second."):
        wire_server.streams(*words(said))
    stepsnb.run(text, vars=values, store=tmp_path / "store", record=cassette)
    again = stepsnb.run(text, vars=values, store=tmp_path / "store", replay=cassette)
    assert [step.text for step in again.steps] == ["First.", "Second."]
    third = stepsnb.run(text + "  - {agent: clerk, prompt: Go.}\n", vars=values, store=tmp_path / "s", replay=cassette)
    assert "this request was made 2 times when it was recorded, and now once more" in third.error


def test_recording_again_replaces_the_same_requests_and_keeps_the_others(run, wire_server, cassette):
    wire_server.streams(*words("Old."))
    wire_server.streams(*words("Other."))
    wire_server.streams(*words("New."))
    run(record=cassette)
    run("Another.", record=cassette)
    run(record=cassette)
    assert (run(replay=cassette).text, run("Another.", replay=cassette).text) == ("New.", "Other.")


def test_errors_and_lost_connections_are_replayed_as_they_were(run, wire_server, cassette):
    wire_server.says(503, {"error": {"message": "overloaded"}}, retry_after="0")
    wire_server.answers(None)  # the connection is closed without an answer
    wire_server.streams(*words("At last."))
    recorded = run(record=cassette)
    assert recorded.text == "At last.", recorded.error
    wire_server.close()
    replayed = run(replay=cassette)

    def requests(result):
        return [(event.status, event.error) for event in result.events if event.kind == "request"]

    assert requests(replayed) == requests(recorded)
    assert len(requests(recorded)) == 3


def test_stream_that_was_cut_is_continued_in_the_replay_too(run, wire_server, cassette):
    wire_server.streams(delta(content="It was a "), is_cut=True)
    wire_server.streams(*words("dark night."))
    recorded = run(record=cassette)
    wire_server.close()
    assert run(replay=cassette).text == recorded.text == "It was a dark night."


def test_what_was_paid_for_is_kept_though_the_run_failed(run, wire_server, cassette):
    wire_server.streams(*calls("read_file", '{"path": "notes/a.txt"}'))
    wire_server.says(400, {"error": {"message": "no more"}})
    assert run(record=cassette).outcome is Outcome.ERRORED
    assert len(yaml.safe_load(cassette.read_text())["exchanges"]) == 2


def test_plain_json_reply_is_replayed(run, wire_server, cassette):
    message = {"role": "assistant", "content": "Plain."}
    wire_server.says(200, {"choices": [{"message": message, "finish_reason": "stop"}]})
    run(record=cassette)
    wire_server.close()
    assert run(replay=cassette).text == "Plain."


def test_bytes_that_are_no_text_come_back_as_they_were(run, wire_server, cassette):
    wire_server.streams(b"data: \xff\xfe\\x41 no json\n\n")
    recorded = run(record=cassette)
    wire_server.close()
    replayed = run(replay=cassette)
    assert (replayed.outcome, replayed.error) == (recorded.outcome, recorded.error)


def test_shell_records_and_replays(run, wire_server, cassette, tmp_path, capsys, monkeypatch):
    (tmp_path / "p.yml").write_text(
        "agents: [{name: a, source: {model: m, endpoint: ((url)), api_key_env: CASSETTE_KEY}, context_window: 9000}]\n"
        "jobs: [{name: j, plan: [{agent: a, prompt: Go., assert: {stdout: Hi}}]}]\n"
    )
    wire_server.streams(*words("Hi."))
    command = [str(tmp_path / "p.yml"), "--var", f"url={wire_server.base_url}"]
    assert main(["run", *command, "--record", str(cassette), "--store", str(tmp_path / "store")]) == 0
    wire_server.close()
    monkeypatch.delenv("CASSETTE_KEY")
    capsys.readouterr()
    assert main(["test", *command, "--replay", str(cassette)]) == 0
    assert main(["run", *command, "--replay", str(cassette), "--json", "--store", str(tmp_path / "store")]) == 0
    shown = capsys.readouterr().out
    assert json.loads(shown[shown.index("{") :])["steps"][0]["response"] == "Hi."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is not there; record it first"),
        ("version: 2\n", "has `version: 2`, and this stepsnb reads 1"),
        ("version: [", "is damaged"),
        ("just text", "has `version: None`"),
        ("version: 1\nexchanges: 3\n", "is damaged"),
        ("version: 1\nexchanges: [{model: m, messages: [abc]}]\n", "message `abc` is not among its `parts:`"),
    ],
)
def test_cassette_that_cannot_be_replayed_says_why(run, cassette, content, words):
    cassette.parent.mkdir()
    if content is not None:
        cassette.write_text(content)
    with pytest.raises(InputError) as caught:
        run(replay=cassette)
    assert words in str(caught.value)


def test_damaged_cassette_is_not_recorded_over(run, wire_server, cassette):
    cassette.parent.mkdir()
    cassette.write_text("version: [")
    with pytest.raises(InputError, match="is damaged"):
        run(record=cassette)
    assert (cassette.read_text(), wire_server.requests) == ("version: [", [])


def test_run_records_or_replays(run, cassette):
    with pytest.raises(InputError, match="a run records or replays"):
        run(record=cassette, replay=cassette)


def test_client_of_the_user_sends_by_itself(tmp_path, cassette):
    text = """
agents: [{name: a, source: {model: m, client: mine}}]
jobs: [{name: j, plan: [{agent: a, prompt: Go.}]}]
"""
    mine = openai.AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:9/v1")
    result = stepsnb.run(text, store=tmp_path / "store", record=cassette, functions={"mine": mine})
    assert "client `mine` sends by itself, so nothing of it can be recorded or replayed" in (result.error or "")
