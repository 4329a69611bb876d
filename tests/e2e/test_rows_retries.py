"""What is tried again, how long everything may take, and who may change that, through whole runs."""

import asyncio
import json
import time

import pytest

import stepsnb
from stepsnb.errors import ConfigError, ErrorCode
from stepsnb.llm import register_script, unregister_script
from tests.llm.conftest import DONE, delta
from tests.support.fixtures_llm import ScriptedModel

QUICK = {"backoff_base_secs": 0.001}


def of(run, kind):
    return [event for event in run.events if event.kind == kind]


def down(times, *, retryable=True):
    """A function that fails so many times; it counts its calls."""
    calls = []

    def down() -> str:
        calls.append(time.monotonic())
        if len(calls) <= times:
            raise stepsnb.ToolError("the quay is closed", retryable=retryable)
        return "open"

    down.calls = calls
    return down


@pytest.fixture
def ask(run, scripted_llm):
    """Have the model call `down` once; `retry` is the agent's, `grant` has more keys of the tool."""

    def ask(function, *, retry=None, **grant):
        scripted_llm.says(calls=[("down", {})]).says("done")
        agent = {"tools": [{"python": "down", **grant}], **({"retry": retry} if retry else {})}
        result = run(agent=agent, functions={"down": function})
        assert result.text == "done"
        return result

    return ask


# -- tools


def test_tool_is_not_tried_again_by_default(ask, ends):
    function = down(1)
    result = ask(function)
    assert (len(function.calls), ends(result)[0].ok, of(result, "retry")) == (1, False, [])


@pytest.mark.parametrize(("retryable", "calls"), [(True, 3), (False, 1)])
def test_attempts_count_calls_and_only_what_is_retryable_is_tried_again(ask, ends, retryable, calls):
    function = down(9, retryable=retryable)
    result = ask(function, retry={"tool": {"max_attempts": 3, **QUICK}})
    assert (len(function.calls), ends(result)[0].ok) == (calls, False)
    assert [(event.effect, event.attempt) for event in of(result, "retry")] == [("tool", 2), ("tool", 3)][: calls - 1]


def test_call_that_succeeds_in_the_end_is_one_result(ask, ends):
    function = down(2)
    (end,) = ends(ask(function, retry={"tool": {"max_attempts": 3, **QUICK}}))
    assert (end.ok, end.result, len(function.calls)) == (True, "open", 3)


@pytest.mark.parametrize(
    ("layers", "own", "calls"),
    [
        ({"default": {"max_attempts": 3, **QUICK}}, {}, 3),
        ({"default": {"max_attempts": 3, **QUICK}, "tool": {"max_attempts": 4}}, {}, 4),
        ({"default": {"max_attempts": 3, **QUICK}, "tool": {"max_attempts": 4}}, {"max_attempts": 2}, 2),
        ({"llm": {"max_attempts": 3}, "subagent": {"max_attempts": 3}, "connector": {"max_attempts": 3}}, {}, 1),
    ],
)
def test_layers_stack_and_the_tools_own_comes_last(run, scripted_llm, layers, own, calls):
    function = down(9)
    scripted_llm.says(calls=[("down", {})]).says("done")
    grant = {"python": "down", **({"retry": own} if own else {})}
    run(agent={"tools": [grant], "retry": layers}, functions={"down": function})
    assert len(function.calls) == calls


def test_keys_change_the_effects_they_name_and_default_all(run, scripted_llm):
    for _ in range(9):
        scripted_llm.says(error=503)
    layers = {"default": {"max_attempts": 5, **QUICK}, "tool": {"max_attempts": 2}}
    assert (run(agent={"retry": layers}).outcome, scripted_llm.request_count) == ("errored", 5)


@pytest.mark.parametrize("value", [None, 0])
@pytest.mark.parametrize("key", ["queue_timeout_secs", "run_timeout_secs", "total_timeout_secs"])
def test_no_layer_removes_a_timeout(run, key, value):
    with pytest.raises(ConfigError, match="an override cannot remove a timeout; to wait almost forever write a large"):
        run(agent={"retry": {"tool": {key: value}}})


def test_run_clock_starts_anew_with_each_attempt_and_bounds_it(run, scripted_llm, ends):
    began = []

    async def stuck() -> str:
        began.append(time.monotonic())
        await asyncio.sleep(0.1 if len(began) == 2 else 30)
        return "at last"

    scripted_llm.says(calls=[("stuck", {})]).says("done")
    layers = {"tool": {"run_timeout_secs": 0.3, "max_attempts": 2, **QUICK}}
    result = run(agent={"tools": [{"python": "stuck"}], "retry": layers}, functions={"stuck": stuck})
    assert (ends(result)[0].result, len(began)) == ("at last", 2)
    (retry,) = of(result, "retry")
    assert retry.code == "deadline_exceeded"
    assert "no result within 0.3 s (`run_timeout_secs`)" in retry.reason


def test_total_clock_bounds_all_attempts_and_is_final(run, scripted_llm):
    for _ in range(9):
        scripted_llm.says(error=503)
    layer = {"total_timeout_secs": 2, "max_attempts": 9, "backoff_base_secs": 1.2, "backoff_max_secs": 1.2}
    result = run(agent={"retry": {"llm": layer}})
    assert (result.outcome, scripted_llm.request_count) == ("errored", 2)
    assert "deadline exceeded: the total of 2 s (`total_timeout_secs`) ends before another attempt" in result.error


def test_call_that_waits_too_long_behind_others_is_dropped_and_never_started(run, scripted_llm, ends, store):
    ran = []

    def slow() -> str:
        ran.append("slow")
        time.sleep(0.8)
        return "done"

    def late() -> str:
        ran.append("late")
        return "done"

    scripted_llm.says(calls=[("slow", {}), ("late", {})]).says("done")
    tools = [{"python": "slow"}, {"python": "late", "retry": {"queue_timeout_secs": 0.3}}]
    result = run(agent={"tools": tools}, functions={"slow": slow, "late": late})
    assert ran == ["slow"]
    dropped = ends(result)[1]
    assert "deadline exceeded while queued: not started within 0.3 s (`queue_timeout_secs`)" in dropped.result
    assert stepsnb.tool_calls(store=store)["code"].fillna("-").tolist() == ["-", "deadline_exceeded"]


def test_call_dropped_from_the_queue_is_handed_in_again(run, scripted_llm, ends):
    scripted_llm.says(calls=[("run_shell", {"command": "sleep 0.8"}), ("late", {})]).says("done")
    tools = ["run_shell", {"python": "late", "retry": {"queue_timeout_secs": 0.3, "max_attempts": 2, **QUICK}}]
    result = run(agent={"tools": tools}, functions={"late": lambda: "in time"})
    assert [end.result for end in ends(result)][1] == "in time"
    assert [event.code for event in of(result, "retry")] == ["deadline_exceeded"]


def test_codes_of_a_failure_are_five():
    assert sorted(ErrorCode) == [
        "budget_exceeded",
        "deadline_exceeded",
        "provider_error",
        "rate_limited",
        "refused",
    ]


def test_code_and_words_of_a_failed_request_say_what_it_was(run, scripted_llm):
    scripted_llm.says(error=429).says(error=503).says("done")
    result = run(agent={"retry": {"llm": QUICK}})
    assert [event.code for event in of(result, "retry")] == ["rate_limited", "provider_error"]


def test_calls_of_one_reply_start_together_and_each_is_answered_in_its_place(run, scripted_llm, ends):
    scripted_llm.says(calls=[("read_file", {"path": "data/a.md"}), ("list_dir", {}), ("read_file", {"path": "x"})])
    scripted_llm.says("done")
    result = run(prepare="printf tide > data/a.md")
    kinds = [(event.phase, event.call_id) for event in result.events if event.kind == "tool"]
    assert [phase for phase, _ in kinds[:3]] == ["start"] * 3
    assert [message["tool_call_id"] for message in scripted_llm.requests[1]["messages"][-3:]] == [
        call_id for _, call_id in kinds[:3]
    ]


# -- sub-agents


LEAD = """
agents:
- {name: helper, source: ((source)), attempts: 1}
- {name: lead, source: {model: ((lead))}, tools: [{agent: helper}], retry: {subagent: ((retry))}}
jobs: [{name: j, plan: [{agent: lead, prompt: Go.}]}]
"""


def lead(scripted_llm, source, retry):
    scripted_llm.says(calls=[("helper", {"request": "Condense."})]).says("I go on.")
    text = LEAD.replace("((source))", json.dumps(source)).replace("((retry))", json.dumps(retry))
    return stepsnb.load(text, vars={"lead": scripted_llm.model}).run(memory=True)


def test_start_of_a_sub_agent_is_tried_again_and_makes_no_second_child(scripted_llm, wire_server):
    wire_server.queues_probes = True
    wire_server.says(404, {})  # the probe before the run
    wire_server.answers(5.0)
    wire_server.says(200, {"data": [{"id": "m", "context_length": 9_000}]})
    wire_server.streams(delta(content="An outage."), delta("stop"), DONE)
    source = {"endpoint": wire_server.base_url, "model": "m"}
    result = lead(scripted_llm, source, {"run_timeout_secs": 1, "max_attempts": 2, **QUICK})
    assert [received.path.rpartition("/")[2] for received in wire_server.requests] == [
        *["models"] * 3,
        "completions",
    ]
    children = [event for event in of(result, "step_started") if event.step_kind == "sub_agent"]
    assert (result.text, len(children)) == ("I go on.", 1)
    assert scripted_llm.requests[1]["messages"][-1]["content"] == "An outage."


@pytest.fixture
def helper_llm():
    """The model of the agent that is called."""
    model = ScriptedModel("helper-of-retries")
    register_script("helper-of-retries", model.script)
    yield model
    unregister_script("helper-of-retries")


def test_child_that_works_longer_than_its_start_may_take_is_left_alone(scripted_llm, helper_llm):
    helper_llm.says("An outage.", delay_s=0.4)
    layer = {"queue_timeout_secs": 0.1, "run_timeout_secs": 0.1}
    lead(scripted_llm, {"model": helper_llm.model}, layer)
    assert scripted_llm.requests[1]["messages"][-1]["content"] == "An outage."


def test_total_of_a_silent_child_ends_it_and_its_caller_goes_on(scripted_llm, helper_llm):
    helper_llm.says("late", delay_s=60)
    result = lead(scripted_llm, {"model": helper_llm.model}, {"total_timeout_secs": 1, "max_attempts": 3})
    assert (result.outcome, result.text, helper_llm.request_count) == ("succeeded", "I go on.", 1)
    told = json.loads(scripted_llm.requests[1]["messages"][-1]["content"])["error"]
    assert told == "agent `helper` failed: timed out after 1 s"
