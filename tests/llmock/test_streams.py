"""Streams that break: repeated when nothing had arrived, gone on with when something had, never taken for whole."""

import pytest

from .server import breaks_stream, calls, says

ANSWER = "The tide is high at twelve past five in the morning."


@pytest.mark.parametrize("after_chunks", [0, 1])
@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
def test_stream_that_breaks_before_its_first_word_is_asked_for_again(run, llmock, kind, after_chunks):
    llmock.plays(breaks_stream(kind, after_chunks), says(ANSWER, times=2))
    ended = run(backoff=0.5)
    assert (ended.outcome, ended.text) == ("succeeded", ANSWER)
    first, second = llmock.requests()
    assert first["body"] == second["body"]
    # It takes a request for a repetition only when it had noted by then that we hung up on the malformed stream, which
    # it does when it next looks: sometimes later.
    assert set(llmock.findings()) <= ({"malformed_chunk_ignored"} if kind == "malformed" else set())


@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
def test_stream_that_breaks_after_words_is_gone_on_with(run, llmock, kind):
    llmock.plays(breaks_stream(kind, 4), says(ANSWER), says("high at twelve past five."))
    ended = run()
    assert ended.outcome == "succeeded"
    first, second = llmock.requests()
    assert first["fault"] == f"stream:{kind}@4"
    # What had arrived stays and is sent along. The verdict only knows the same request sent again, so it misses it.
    assert any("The tide is" in (message["content"] or "") for message in second["body"]["messages"])
    assert "The tide is" in ended.text
    assert set(llmock.findings()) <= {"truncated_stream_accepted", "malformed_chunk_ignored", "gave_up"}


@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
def test_call_that_breaks_off_in_its_arguments_is_never_run(run, llmock, tides, kind):
    llmock.plays(
        breaks_stream(kind, 3),
        calls("look_up", place="Fowey harbour"),
        calls("look_up", place="Fowey"),
        says("At five."),
    )
    ended = run()
    assert ended.outcome == "succeeded"
    assert tides.places == ["Fowey"]


def test_silent_stream_is_cut_off_by_the_run_clock(run, llmock):
    llmock.plays(breaks_stream("stall", 1, stall_seconds=20), says(ANSWER, times=2))
    ended = run(retry="{llm: {run_timeout_secs: 1, backoff_base_secs: 0.1}}")
    assert (ended.outcome, ended.text) == ("succeeded", ANSWER)
    assert len(llmock.requests()) == 2
    assert llmock.findings() == []


def test_silence_in_the_middle_of_words_is_gone_on_with(run, llmock):
    llmock.plays(breaks_stream("stall", 4, stall_seconds=20), says(ANSWER), says("high at twelve past five."))
    ended = run(retry="{llm: {run_timeout_secs: 1, backoff_base_secs: 0.1}}")
    assert ended.outcome == "succeeded"
    assert "The tide is" in ended.text
    assert "no_read_timeout" not in llmock.findings()


@pytest.mark.parametrize("slow", [{"type": "delay", "seconds": 0.7}, {"type": "slow_first_token", "seconds": 0.7}])
def test_server_that_is_slow_is_waited_for(run, llmock, slow):
    llmock.plays(slow, says(ANSWER))
    ended = run()
    assert (ended.outcome, ended.text) == ("succeeded", ANSWER)
    assert len(llmock.requests()) == 1
    assert llmock.findings() == []


def test_stream_that_breaks_every_time_ends_the_run_as_errored(run, llmock):
    llmock.plays(breaks_stream("disconnect", 0, times=None), says(ANSWER, times=None))
    ended = run()
    assert ended.outcome == "errored"
    assert "connection was lost" in ended.error
    assert llmock.verdict()["passed"]
