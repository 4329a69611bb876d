"""How often a request is sent again, after which wait, and how often a reply that broke off is continued."""

import email.utils
import time

import pytest

import stepsnb
from stepsnb.errors import ConfigError
from stepsnb.llm.transports.script import ScriptedError, ScriptedReply
from tests.llm.conftest import DONE, delta, event


def of(run, kind):
    return [event for event in run.events if event.kind == kind]


def fails(llm, times, *, status=503, retry_after_s=None):
    error = ScriptedError(status=status, retry_after_s=retry_after_s)
    llm.script.conversations[0].replies.extend(ScriptedReply(error=error) for _ in range(times))
    return llm


def test_three_attempts_of_an_agent_step_with_waits_of_two_and_four_seconds(run, scripted_llm, waits):
    fails(scripted_llm, 5)
    result = run()
    assert (result.outcome, scripted_llm.request_count, waits) == ("errored", 3, [2, 4])
    assert [(retry.attempt, retry.max_attempts) for retry in of(result, "retry")] == [(2, 3), (3, 3)]


def test_waits_are_powers_of_two_up_to_eight_seconds(run, scripted_llm, waits):
    fails(scripted_llm, 6).says("done")
    assert run(agent={"attempts": 7}).text == "done"
    assert waits == [2, 4, 8, 8, 8, 8]


@pytest.mark.parametrize("where", ["agent", "step"])
def test_no_attempt_at_all_is_an_error(run, where):
    with pytest.raises(ConfigError, match="attempts"):
        run(**{where: {"attempts": 0}})


def test_task_is_tried_once(tmp_path):
    text = "jobs: [{name: j, plan: [{task: t, env: {LOG: ((log))}, run: 'echo x >> \"$LOG\"; exit 1'}]}]"
    result = stepsnb.load(text, vars={"log": str(tmp_path / "log")}).run(memory=True)
    assert (result.outcome, (tmp_path / "log").read_text()) == ("failed", "x\n")


@pytest.mark.parametrize(
    ("status", "requests"),
    [(400, 1), (401, 1), (402, 1), (403, 1), (404, 1), (413, 1), (422, 1)]
    + [(status, 3) for status in (408, 409, 429, 500, 502, 503, 504, 529)],
)
def test_statuses_that_are_tried_again(run, scripted_llm, waits, status, requests):
    fails(scripted_llm, 5, status=status)
    assert run().outcome == "errored"
    assert scripted_llm.request_count == requests


ENDPOINT = """
agents: [{name: a, source: {endpoint: "((url))", model: m}, context_window: 100000}]
jobs: [{name: j, plan: [{agent: a, prompt: Go.}]}]
"""


def test_connection_that_nobody_takes_is_tried_again(wire_server, waits):
    wire_server.close()
    result = stepsnb.load(ENDPOINT, vars={"url": wire_server.base_url}).run(memory=True)
    assert (result.outcome, len(of(result, "request")), waits) == ("errored", 3, [2, 4])


@pytest.mark.parametrize(("asked_s", "waited"), [(1, [2]), (5, [5]), (60, [60])])
def test_retry_after_is_a_floor_of_the_wait(run, scripted_llm, waits, asked_s, waited):
    fails(scripted_llm, 1, status=429, retry_after_s=asked_s).says("done")
    assert (run().text, waits) == ("done", waited)


def test_longer_wait_than_sixty_seconds_fails_at_once_and_says_so(run, scripted_llm, waits):
    fails(scripted_llm, 2, status=429, retry_after_s=61)
    result = run()
    assert (result.outcome, scripted_llm.request_count, waits) == ("errored", 1, [])
    assert "asked to wait 61 s, which is longer than 60 s" in result.error


def test_retry_after_may_be_a_date(wire_server, waits):
    wire_server.says(503, {}, retry_after=email.utils.formatdate(time.time() + 50, usegmt=True))
    wire_server.streams(delta(content="done"), delta("stop"), DONE)
    result = stepsnb.load(ENDPOINT, vars={"url": wire_server.base_url}).run(memory=True)
    assert result.text == "done"
    assert [8 < wait <= 50 for wait in waits] == [True]


# -- replies that are not whole


def broken(server):
    server.streams(delta(content="and "), is_cut=True)


def lost(server):
    server.streams(delta(content="Let me look."), delta("tool_calls"), event({"choices": []}), DONE)


def held(server):
    return stepsnb.load(ENDPOINT, vars={"url": server.base_url}).run(memory=True)


@pytest.mark.parametrize("kinds", [(broken,) * 10, (lost,) * 10, (broken, lost) * 5])
def test_ten_continuations_shared_by_lost_connections_and_lost_calls(wire_server, kinds):
    for break_off in kinds:
        break_off(wire_server)
    wire_server.streams(delta(content="so on."), delta("stop"), DONE)
    result = held(wire_server)
    assert (result.outcome, len(wire_server.requests)) == ("succeeded", 11)
    assert of(result, "retry")[-1].attempt == 10


@pytest.mark.parametrize("kinds", [(broken,) * 11, (lost,) * 11, (broken, lost) * 6])
def test_eleventh_reply_in_a_row_that_is_not_whole_is_the_end(wire_server, kinds):
    for break_off in kinds:
        break_off(wire_server)
    assert (held(wire_server).outcome, len(wire_server.requests)) == ("errored", 11)


def test_two_continuations_of_a_reply_cut_at_the_output_limit(run, scripted_llm):
    for _ in range(5):
        scripted_llm.says("and ", finish_reason="length")
    result = run()
    assert (result.text, scripted_llm.request_count) == ("and and and ", 3)
    assert [(retry.attempt, retry.max_attempts) for retry in of(result, "retry")] == [(1, 2), (2, 2)]


def test_only_a_whole_reply_begins_the_count_anew(run, scripted_llm):
    for _ in range(2):
        scripted_llm.says("and ", finish_reason="length").says("and ", finish_reason="length").says("so on.")
    result = run(step={"messages": ["First.", "Second."]})
    assert (result.text, scripted_llm.request_count) == ("and and so on.", 6)
