"""Requests that get an error status: repeated when that can help, as late as was asked for, and never for ever."""

import pytest

from stepsnb.settings import ATTEMPTS

from .server import calls, fails, says


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_passing_failure_is_tried_again(run, llmock, status, stream):
    llmock.plays(fails(status), says("At five."))
    ended = run(stream=stream)
    assert (ended.outcome, ended.text) == ("succeeded", "At five.")
    assert [request["status"] for request in llmock.requests()] == [status, 200]
    assert llmock.findings() == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_failure_that_stays_is_not_tried_again(run, llmock, status):
    llmock.plays(fails(status))
    ended = run()
    assert ended.outcome == "errored"
    assert f"({status})" in ended.error
    assert [request["status"] for request in llmock.requests()] == [status]
    assert llmock.findings() == []


def test_wait_that_the_server_asks_for_is_kept(run, llmock):
    llmock.plays(fails(429, retry_after=1.5), fails(503), says("At five."))
    assert run().outcome == "succeeded"
    assert [request["status"] for request in llmock.requests()] == [429, 503, 200]
    assert llmock.findings() == []


def test_server_that_stays_down_is_given_up_after_growing_waits(run, llmock):
    llmock.plays(fails(503, times=None))
    ended = run(backoff=1.3)
    assert ended.outcome == "errored"
    assert "(503)" in ended.error
    assert len(llmock.requests()) == ATTEMPTS
    assert llmock.findings() == []


def test_failure_after_a_tool_call_runs_the_tool_no_second_time(run, llmock, tides):
    tides.before_result = lambda: llmock.plays(fails(500))
    llmock.plays(calls("look_up", place="Fowey"), says("At five."))
    assert run().outcome == "succeeded"
    assert [request["status"] for request in llmock.requests()] == [200, 500, 200]
    assert tides.places == ["Fowey"]
    assert llmock.findings() == []
