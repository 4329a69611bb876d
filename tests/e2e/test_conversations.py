"""Conversations in depth, through the public API on the scripted model: retries, continuations, loops, compaction."""

import json

import pytest

import stepsnb
from stepsnb.messages import Mark
from stepsnb.settings import (
    ATTEMPTS,
    LENGTH_CONTINUATIONS,
    LOOP_REPEATS,
    MAX_EMPTY_REPLIES,
)

QUICK = "retry: {llm: {backoff_base_secs: 0.001}}"


@pytest.fixture
def run(scripted_llm, tmp_path):
    """Run one agent step; agent and step keys are given as lines of YAML."""

    def run(*, agent="description: works", step="prompt: Go.", **options):
        lines = ["agents:", "- name: worker", f"  source: {{model: {scripted_llm.model}}}"]
        lines += [f"  {line}" for line in agent.strip().splitlines()]
        lines += ["jobs:", "- name: job", "  plan:", "  - task: prepare", "    outputs: [data]"]
        lines += ["    run: printf 'tide 4.1 m' > data/tide.txt", "  - agent: worker", "    inputs: [data]"]
        lines += [f"    {line}" for line in step.strip().splitlines()]
        return stepsnb.load("\n".join(lines) + "\n").run(store=tmp_path / "store", **options)

    return run


def of(run, kind):
    return [event for event in run.events if event.kind == kind]


def reads(llm, times):
    """Have the model read a different range of the same file each time."""
    for line in range(1, times + 1):
        llm.says(calls=[("read_file", {"path": "data/tide.txt", "end_line": line})])


# -- attempts: one request, tried again before any of its reply has come


def test_failed_request_is_sent_again_and_the_conversation_goes_on(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})]).says(error=500).says("there is data")
    result = run(agent=QUICK)
    assert (result.outcome, result.text) == ("succeeded", "there is data")
    assert scripted_llm.requests[1]["messages"] == scripted_llm.requests[2]["messages"]
    (retry,) = of(result, "retry")
    assert (retry.effect, retry.retry_kind, retry.attempt, retry.max_attempts) == ("llm", "replay", 2, ATTEMPTS)


@pytest.mark.parametrize(("agent", "step", "attempts"), [("", "", ATTEMPTS), ("attempts: 2", "", 2)])
def test_attempts_are_requests_on_the_wire_and_the_failure_counts_them(run, scripted_llm, agent, step, attempts):
    for _ in range(attempts + 1):
        scripted_llm.says(error=503)
    result = run(agent=f"{QUICK}\n{agent}")
    assert (result.outcome, scripted_llm.request_count) == ("errored", attempts)
    assert len(of(result, "retry")) == attempts - 1
    assert f"after {attempts} attempts" in result.error


def test_steps_attempts_beat_the_agents(run, scripted_llm):
    scripted_llm.says(error=503).says("never")
    result = run(agent=f"{QUICK}\nattempts: 4", step="prompt: Go.\nattempts: 1")
    assert (result.outcome, scripted_llm.request_count, of(result, "retry")) == ("errored", 1, [])


def test_refusal_is_not_tried_again(run, scripted_llm):
    scripted_llm.says(error=400).says("never")
    assert (run(agent=QUICK).outcome, scripted_llm.request_count) == ("errored", 1)


def test_failed_tool_call_is_data_and_never_tried_again_by_attempts(run, scripted_llm):
    scripted_llm.says(calls=[("read_file", {"path": "data/none"})]).says("not there")
    result = run(agent=f"{QUICK}\nattempts: 5")
    assert (result.text, scripted_llm.request_count, of(result, "retry")) == ("not there", 2, [])


# -- continuations: replies that are not whole


def test_reply_cut_off_by_the_output_limit_is_continued_and_joined(run, scripted_llm):
    scripted_llm.says("The tide is ", finish_reason="length").says("4.1 m.")
    result = run()
    assert result.text == "The tide is 4.1 m."
    assert [event.retry_kind for event in of(result, "retry")] == ["length"]
    assert scripted_llm.requests[1]["messages"][-2] == {"role": "assistant", "content": "The tide is "}
    assert [event.marks for event in of(result, "turn_finished")] == [[Mark.TRUNCATED], []]


def test_reply_that_stays_cut_off_is_taken_as_it_is_and_marked(run, scripted_llm):
    for part in range(LENGTH_CONTINUATIONS + 1):
        scripted_llm.says(f"{part} ", finish_reason="length")
    result = run()
    assert (result.outcome, result.text) == ("succeeded", "0 1 2 ")
    assert scripted_llm.request_count == LENGTH_CONTINUATIONS + 1
    assert of(result, "turn_finished")[-1].finish_reason == "length"


def test_whole_reply_resets_the_count_of_continuations(run, scripted_llm):
    for _ in range(2):
        for _ in range(LENGTH_CONTINUATIONS):
            scripted_llm.says("and ", finish_reason="length")
        scripted_llm.says("so on.")
    result = run(step="messages: [First., Second.]")
    assert (result.outcome, result.text) == ("succeeded", "and and so on.")


def test_announced_call_that_is_not_there_is_asked_for_again(run, scripted_llm):
    scripted_llm.says("Let me look.", finish_reason="tool_calls").says(calls=[("list_dir", {})]).says("data")
    result = run()
    assert result.outcome == "succeeded"
    assert [event.retry_kind for event in of(result, "retry")] == ["lost-call"]
    assert Mark.LOST in of(result, "turn_finished")[0].marks


def test_call_that_never_comes_is_an_error_that_counts_them(run, scripted_llm):
    for _ in range(11):
        scripted_llm.says("Let me look.", finish_reason="tool_calls")
    result = run()
    assert result.outcome == "errored"
    assert "announced a tool call 11 times and sent none" in result.error


def test_empty_reply_is_asked_for_again_and_then_failed(run, scripted_llm):
    for _ in range(MAX_EMPTY_REPLIES + 1):
        scripted_llm.says("")
    result = run()
    assert (result.outcome, scripted_llm.request_count) == ("failed", MAX_EMPTY_REPLIES + 1)
    assert "empty reply" in result.error


def test_thinking_alone_is_an_empty_reply(run, scripted_llm):
    scripted_llm.says(thinking="hmm").says("4.1 m")
    result = run()
    assert (result.text, [event.retry_kind for event in of(result, "retry")]) == ("4.1 m", ["empty"])


CUT = '{"path": "data/new.txt", "content": "half of it'


def test_cut_off_call_that_changes_something_is_asked_for_again_and_never_run(run, scripted_llm):
    scripted_llm.says(calls=[("write_file", CUT)], finish_reason="length")
    scripted_llm.says(calls=[("write_file", {"path": "data/new.txt", "content": "all of it"})]).says("Written.")
    result = run(agent="tools: [write_file]", step="prompt: Go.\noutputs: [data]")
    assert result.files["data/new.txt"].read_text() == "all of it"
    first, second = [event for event in of(result, "tool") if event.phase == "end"]
    assert (first.ok, first.denied_by, second.ok) == (False, "output_limit", True)
    assert [event.retry_kind for event in of(result, "retry")] == ["length"]


def test_cut_off_call_that_is_safe_to_repeat_runs_once_with_what_arrived(run, scripted_llm):
    scripted_llm.says(calls=[("read_file", '{"path": "data/tide.txt"')], finish_reason="length").says("4.1 m")
    result = run()
    (end,) = [event for event in of(result, "tool") if event.phase == "end"]
    assert (end.ok, end.repaired, end.result) == (True, True, "tide 4.1 m")
    assert of(result, "retry") == []


def test_complete_call_beside_a_length_finish_runs_unchanged(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], finish_reason="length").says("data")
    result = run()
    (end,) = [event for event in of(result, "tool") if event.phase == "end"]
    assert (end.ok, end.repaired, of(result, "retry")) == (True, False, [])


# -- loops


def test_repeated_call_is_warned_of_once_and_then_fails_the_step(run, scripted_llm):
    for _ in range(LOOP_REPEATS + 3):
        scripted_llm.says(calls=[("list_dir", {})])
    result = run()
    assert result.outcome == "failed"
    assert "agent stuck in a loop" in result.error
    (warning,) = of(result, "loop_warning")
    assert (warning.tool, warning.count) == ("list_dir", LOOP_REPEATS + 1)
    assert scripted_llm.request_count == LOOP_REPEATS + 2
    assert "list_dir" in scripted_llm.requests[-1]["messages"][-1]["content"]


def test_call_with_another_result_each_time_is_no_loop(run, scripted_llm):
    for _ in range(LOOP_REPEATS + 3):
        scripted_llm.says(calls=[("run_shell", {"command": "echo x >> log; wc -l < log"})])
    scripted_llm.says("done")
    result = run(agent="tools: [run_shell]")
    assert (result.text, of(result, "loop_warning")) == ("done", [])


# -- the deadline


def test_deadline_is_told_once_in_the_system_message_and_once_when_little_is_left(run, scripted_llm):
    scripted_llm.says(calls=[("run_shell", {"command": "sleep 4.1"})])
    scripted_llm.says(calls=[("run_shell", {"command": "true"})]).says("done")
    result = run(agent="tools: [run_shell]", step="prompt: Go.\ntimeout: 5s\nmax_turns: 3")
    assert result.outcome == "succeeded"
    first, *_, last = scripted_llm.requests
    assert "You have 5 seconds for all of it." in first["messages"][0]["content"]
    (nudge,) = [event for event in of(result, "nudge") if event.about == "deadline"]
    assert [message["content"] for message in last["messages"]].count(nudge.text) == 1
    assert last["tools"] == first["tools"]


# -- compaction


def big(llm, count, size=3_000):
    """Have the model read something long, about 760 tokens, and something else each time."""
    for number in range(count):
        llm.says(calls=[("run_shell", {"command": f"printf '%0{size}d' {number}"})])


def test_long_conversation_is_summarised_and_goes_on(run, scripted_llm):
    big(scripted_llm, 4)
    scripted_llm.says("SUMMARY: four words were printed").says("done")
    result = run(agent="tools: [run_shell]\ncompact_after_tokens: 2500")
    assert (result.outcome, result.text) == ("succeeded", "done")
    start, end = of(result, "compaction")
    assert (start.phase, end.phase, end.error) == ("start", "end", None)
    assert end.after < end.before
    asked, after = scripted_llm.requests[-2:]
    assert "tools" not in asked
    texts = [message["content"] for message in after["messages"]]
    assert texts[0] == scripted_llm.requests[0]["messages"][0]["content"]
    assert any("SUMMARY: four words were printed" in (text or "") for text in texts)
    assert any(text == "Go." for text in texts)
    assert len(after["messages"]) < len(scripted_llm.requests[3]["messages"])


def test_second_compaction_folds_the_summary_of_the_first(run, scripted_llm):
    big(scripted_llm, 4)
    scripted_llm.says("SUMMARY-ONE")
    big(scripted_llm, 3)
    scripted_llm.says("SUMMARY-TWO").says("done")
    result = run(agent="tools: [run_shell]\ncompact_after_tokens: 2500")
    assert [event.summary for event in of(result, "compaction") if event.summary] == ["SUMMARY-ONE", "SUMMARY-TWO"]
    asked = json.dumps(scripted_llm.requests[-2]["messages"])
    assert "SUMMARY-ONE" in asked
    assert "SUMMARY-ONE" not in json.dumps(scripted_llm.requests[-1]["messages"])


def test_failed_summary_is_recorded_and_the_turn_goes_on(run, scripted_llm):
    big(scripted_llm, 4)
    scripted_llm.says(error=400).says("done")
    result = run(agent="tools: [run_shell]\ncompact_after_tokens: 2500")
    assert (result.outcome, result.text) == ("succeeded", "done")
    assert of(result, "compaction")[1].error
    assert len(scripted_llm.requests[-1]["messages"]) == 10


def test_zero_disables_compaction(run, scripted_llm):
    big(scripted_llm, 4)
    scripted_llm.says("done")
    result = run(agent="tools: [run_shell]\ncompact_after_tokens: 0\ncontext_window: 2500")
    assert (result.text, of(result, "compaction")) == ("done", [])


@pytest.mark.parametrize(
    ("agent", "budget"),
    [
        ("context_window: 32000", (25_600, 32_000, "agent")),
        ("compact_after_tokens: 40000", (40_000, 128_000, "assumed")),
        ("description: says nothing", (102_400, 128_000, "assumed")),
        ("compact_after_tokens: 0", (None, 128_000, "assumed")),
    ],
)
def test_step_states_its_compaction_budget_and_where_the_window_is_from(run, scripted_llm, agent, budget):
    scripted_llm.says("done")
    (stated,) = of(run(agent=agent), "compaction_budget")
    assert (stated.compact_at, stated.window, stated.window_source) == budget


# -- a server that cuts what it is sent


def test_server_that_reports_far_fewer_tokens_than_were_sent_is_named(run, scripted_llm):
    text = "; ".join(f"entry {number} of the log says {number * 7919}" for number in range(1_000))
    scripted_llm.says(calls=[("run_shell", {"command": f"echo '{text}'"})], usage=900)
    scripted_llm.says("done", usage=2_048)
    (cut,) = of(run(agent="tools: [run_shell]"), "context_truncated")
    assert (cut.turn, cut.reported) == (2, 2_048)
    assert cut.sent > 4_096


def test_honest_report_is_not_taken_for_a_cut(run, scripted_llm):
    scripted_llm.says(calls=[("run_shell", {"command": "head -c 30000 /dev/zero | tr '\\\\0' ' '"})], usage=900)
    scripted_llm.says("done", usage=1_400)
    assert of(run(agent="tools: [run_shell]"), "context_truncated") == []
