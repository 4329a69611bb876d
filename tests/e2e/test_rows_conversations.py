"""How conversations end, how long they may take, how their calls are mended, and what a report says of a model."""

import json

import pytest

import stepsnb
from stepsnb.messages import Mark
from tests.support.fixtures_step import PRINTS

QUICK = {"retry": {"llm": {"backoff_base_secs": 0.001}}}


def of(run, kind):
    return [event for event in run.events if event.kind == kind]


def end_of_step(run):
    return of(run, "step_finished")[-1]


# -- the end of the turns


def test_answer_of_the_wrap_up_is_marked_in_the_record(run, scripted_llm, store):
    scripted_llm.says(calls=[("list_dir", {})]).says("what I have")
    result = run(agent={"max_turns": 1})
    assert (result.outcome, result.text, end_of_step(result).wrapped_up) == ("succeeded", "what I have", True)
    assert stepsnb.steps(store=store).set_index("name").loc["worker", "wrapped_up"]


def test_failed_wrap_up_is_errored_and_not_marked_as_one(run, scripted_llm, store):
    scripted_llm.says(calls=[("list_dir", {})])
    for _ in range(2):
        scripted_llm.says(error=(503, "overloaded"))
    result = run(agent={"max_turns": 1, "attempts": 2, **QUICK})
    assert (result.outcome, scripted_llm.request_count) == ("errored", 3)
    assert "all 1 turns (`max_turns`) are used, and the last request failed: after 2 attempts: " in result.error
    assert end_of_step(result).wrapped_up is False
    assert not stepsnb.steps(store=store).set_index("name").loc["worker", "wrapped_up"]


# -- the time of a step


def test_deadline_covers_a_reply_that_is_under_way(run, scripted_llm):
    scripted_llm.says("word " * 100, delay_s=0.1)
    result = run(step={"timeout": "1s"})
    assert (result.outcome, scripted_llm.request_count) == ("failed", 1)
    assert "timed out after 1 s (`timeout:`)" in result.error


def test_deadline_covers_the_wait_between_two_attempts(run, scripted_llm):
    scripted_llm.says(error=503).says("never")
    result = run(agent={"retry": {"llm": {"backoff_base_secs": 30, "backoff_max_secs": 30}}}, step={"timeout": "1s"})
    assert (result.outcome, scripted_llm.request_count) == ("failed", 1)
    assert "timed out after 1 s" in result.error


def test_deadline_covers_all_turns_together(run, scripted_llm):
    for _ in range(9):
        scripted_llm.says(calls=[("run_shell", {"command": "sleep 0.4; date +%N"})])
    result = run(agent={"tools": ["run_shell"]}, step={"timeout": "1s"})
    assert "timed out after 1 s (`timeout:`)" in result.error
    assert 1 < scripted_llm.request_count < 5  # each turn alone takes less than half of the time


# -- arguments that are not JSON


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        ('Here you go:\n```json\n{"text": "tide", "place": "Fowey"}\n```', ("tide", "Fowey")),
        ('{"text": "tide", "place": "Fow', ("tide", "Fow")),
        ('{"text": "tide", "place": "Fowey"', ("tide", "Fowey")),
        ('{"text": "tide", "place": ', ("tide", None)),
        ('{"text": "tide", "place"', ("tide", None)),
        ('{"text": "tide", "place": "Fowey",}', ("tide", "Fowey")),
    ],
)
def test_broken_arguments_are_mended_and_the_call_says_so(run, scripted_llm, ends, sent, arrived):
    seen = []

    def note(text: str, place: str | None = None) -> str:
        seen.append((text, place))
        return "noted"

    scripted_llm.says(calls=[("note", sent)]).says("done")
    result = run(agent={"tools": [{"python": "note"}]}, functions={"note": note})
    assert seen == [arrived]
    assert [(end.ok, end.repaired) for end in ends(result)] == [(True, True)]
    assert Mark.REPAIRED in of(result, "turn_finished")[0].marks


@pytest.mark.parametrize("sent", ["no object at all", '{"text": "x, "place": "y"}', "{,}", "{"])
def test_arguments_that_cannot_be_mended_are_never_run_as_none(run, scripted_llm, ends, sent):
    ran = []

    def sweep(folder: str = "everything") -> str:
        ran.append(folder)
        return "swept"

    scripted_llm.says(calls=[("sweep", sent)]).says("done")
    result = run(agent={"tools": [{"python": "sweep"}]}, functions={"sweep": sweep})
    assert (ran, [end.ok for end in ends(result)]) == ([], [False])
    assert "the call was not run" in ends(result)[0].result


def test_valid_arguments_go_back_byte_for_byte(run, scripted_llm, ends):
    sent = '{ "path" :\t"data",\n "path":"." }'
    scripted_llm.says(calls=[("list_dir", sent)]).says("done")
    result = run()
    assert (ends(result)[0].repaired, ends(result)[0].args) == (False, sent)
    assert scripted_llm.requests[1]["messages"][-2]["tool_calls"][0]["function"]["arguments"] == sent
    assert of(result, "turn_finished")[0].marks == []


# -- compaction


def test_compact_after_tokens_outranks_the_window_and_zero_switches_it_off(run, scripted_llm):
    for tokens, stated in ((7_000, 7_000), (0, None)):
        scripted_llm.says("done")
        (budget,) = of(run(agent={"context_window": 10_000, "compact_after_tokens": tokens}), "compaction_budget")
        assert (budget.compact_at, budget.window, budget.window_source) == (stated, 10_000, "agent")


def test_pointer_to_a_spilled_result_survives_a_compaction_and_its_file_is_still_read(run, scripted_llm, ends):
    scripted_llm.says(calls=[("prints", {"n": 6_000})])
    for number in range(3):
        scripted_llm.says(calls=[("prints", {"n": 3_000 + number})])
    scripted_llm.says("SUMMARY").says(calls=[("read_file", {"path": ".steps-output/call_1_1.txt"})]).says("done")
    tools = [{**PRINTS, "max_output_bytes": 5_000}, "read_file"]
    result = run(agent={"tools": tools, "compact_after_tokens": 2_600})
    pointer = ends(result)[0].result
    assert pointer.startswith('<persistent_file path=".steps-output/call_1_1.txt"')
    assert [event.error for event in of(result, "compaction")] == [None, None]
    assert pointer in scripted_llm.requests[4]["messages"][-1]["content"]
    assert ends(result)[-1].result == "x" * 6_000


# -- what a report says of a model


def test_report_counts_the_replies_of_a_model_by_what_was_wrong_with_them(run, scripted_llm, store):
    scripted_llm.says(calls=[("list_dir", '{"path": ".",}')])
    scripted_llm.says('<tool_call>\n{"name": "list_dir", "arguments": {"path": "data"}}\n</tool_call>')
    scripted_llm.says("Let me look.", finish_reason="tool_calls")
    for _ in range(6):
        scripted_llm.says(calls=[("list_dir", {"path": "./data"})])
    scripted_llm.says("The tide is ", finish_reason="length").says("4.1 m.")
    result = run()
    assert result.text == "The tide is 4.1 m."
    report = stepsnb.models(store=store).iloc[0]
    counted = report[["replies", "marked", "repaired", "promoted", "lost", "looped", "truncated"]].tolist()
    assert counted == [11, 5, 1, 1, 1, 1, 1]
    assert json.loads(report[["requests", "retries", "failed_requests"]].to_json()) == {
        "requests": 11,
        "retries": 2,
        "failed_requests": 0,
    }
