"""Broken tool calls of a model: answered in words it can act on, so that the run goes on."""

from .server import calls, says


def tool_results(request):
    return [message["content"] for message in request["body"]["messages"] if message["role"] == "tool"]


def test_whole_calls_are_run_and_answered(run, llmock, tides):
    llmock.plays(calls("look_up", place="Fowey"), says("At five."))
    ended = run()
    assert (ended.outcome, ended.text, tides.places) == ("succeeded", "At five.", ["Fowey"])
    assert tool_results(llmock.requests()[-1]) == ["high tide in Fowey at 05:12"]
    assert llmock.findings() == []


def test_call_of_a_tool_that_was_not_offered_is_told_and_the_run_goes_on(run, llmock, tides):
    llmock.plays({"type": "tool_fault", "kind": "unknown_tool"}, calls("look_up", place="Fowey"), says("At five."))
    assert run().outcome == "succeeded"
    (result,) = tool_results(llmock.requests()[-1])
    assert "unknown tool `llmock_unknown_tool`" in result
    assert tides.places == []
    assert llmock.findings() == []


def test_arguments_that_are_cut_in_half_are_told_or_mended_and_the_run_goes_on(run, llmock, tides):
    llmock.plays(
        {"type": "tool_fault", "kind": "malformed_arguments"},
        calls("look_up", place="Fowey harbour"),
        calls("look_up", place="Fowey"),
        says("At five."),
    )
    assert run().outcome == "succeeded"
    assert tides.places[-1] == "Fowey"
    assert llmock.findings() == []
