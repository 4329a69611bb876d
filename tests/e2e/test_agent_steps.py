"""Agent steps through the public API, on the scripted model: what an author of pipelines relies on."""

import json
from pathlib import Path

import pytest

import stepsnb
from stepsnb.settings import INLINE_OUTPUT_BYTES, MAX_TURNS

HEAD = """
agents:
- name: writer
  source: {model: ((model))}
  {agent}
jobs:
- name: note
  plan:
  - task: prepare
    outputs: [notes]
    run: printf 'widgets ship on tuesday' > notes/plan.txt
  - agent: writer
    inputs: [notes]
    outputs: [report]
    {step}
"""


@pytest.fixture
def run(scripted_llm, tmp_path):
    """Run one agent step after a task that left `notes/plan.txt`; agent and step keys are given as YAML lines."""

    def run(*, agent="description: writes", step="prompt: Go.", **options):
        text = HEAD.replace("{agent}", agent.strip().replace("\n", "\n  "))
        text = text.replace("{step}", step.strip().replace("\n", "\n    "))
        pipeline = stepsnb.load(text, vars={"model": scripted_llm.model})
        return pipeline.run(store=tmp_path / "store", **options)

    return run


def offered(request):
    """Names of the tools a request offered."""
    return [tool["function"]["name"] for tool in request.get("tools", [])]


def tool_ends(run):
    return [event for event in run.events if event.kind == "tool" and event.phase == "end"]


def test_agent_without_tools_gets_exactly_the_three_that_change_nothing(run, scripted_llm):
    scripted_llm.says("done")
    assert run().outcome == "succeeded"
    assert sorted(offered(scripted_llm.requests[0])) == ["list_dir", "read_file", "search_files"]


def test_steps_tools_narrow_the_agents_grant(run, scripted_llm):
    scripted_llm.says("done")
    run(agent="tools: [read_file, write_file, run_shell]", step="prompt: Go.\ntools: [write_file]")
    assert offered(scripted_llm.requests[0]) == ["write_file"]


def test_call_of_a_tool_that_was_not_granted_is_data_and_runs_nothing(run, scripted_llm):
    scripted_llm.says(calls=[("write_file", {"path": "report/x", "content": "x"})], check=False).says("oh well")
    result = run()
    assert result.outcome == "succeeded"
    assert result.files.keys() == {"notes/plan.txt"}
    assert tool_ends(result)[0].result.count("unknown tool `write_file`") == 1


def test_agent_reads_an_input_and_leaves_a_file_for_the_next_step(run, scripted_llm):
    scripted_llm.says(calls=[("read_file", {"path": "notes/plan.txt"})])
    scripted_llm.says(calls=[("write_file", {"path": "report/s.md", "content": "It ships on tuesday."})])
    scripted_llm.says("Written.")
    result = run(agent="tools: [read_file, write_file]", step="prompt: Go.\nassert: {files: [report/s.md]}")
    assert (result.outcome, result.text) == ("succeeded", "Written.")
    assert result.files["report/s.md"].read_text() == "It ships on tuesday."
    assert "widgets ship on tuesday" in tool_ends(result)[0].result


def test_each_message_runs_to_its_end_before_the_next_is_sent(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})]).says("first answer").says("second answer")
    result = run(step="messages: [First ask., Second ask.]")
    assert result.text == "second answer"
    users = [[m["content"] for m in request["messages"] if m["role"] == "user"] for request in scripted_llm.requests]
    assert users == [["First ask."], ["First ask."], ["First ask.", "Second ask."]]
    assert scripted_llm.requests[2]["messages"][-2]["content"] == "first answer"


def test_agents_default_is_thirty_turns_then_one_request_without_tools(run, scripted_llm):
    for turn in range(MAX_TURNS):
        scripted_llm.says(calls=[("read_file", {"path": "notes/plan.txt", "end_line": turn + 1})])
    scripted_llm.says("what I have")
    result = run()
    assert (scripted_llm.request_count, result.text) == (MAX_TURNS + 1, "what I have")
    assert offered(scripted_llm.requests[-1]) == []
    finished = [event for event in result.events if event.kind == "step_finished"][-1]
    assert finished.wrapped_up


def test_steps_max_turns_beats_the_agents(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})]).says(calls=[("list_dir", {})]).says("wrapped")
    run(agent="max_turns: 7", step="prompt: Go.\nmax_turns: 2")
    assert scripted_llm.request_count == 3


def test_max_turns_zero_means_no_cap(run, scripted_llm):
    for turn in range(MAX_TURNS + 5):
        scripted_llm.says(calls=[("read_file", {"path": "notes/plan.txt", "end_line": turn + 1})])
    scripted_llm.says("done")
    assert run(step="prompt: Go.\nmax_turns: 0").text == "done"


def test_steps_timeout_beats_the_agents_and_expiry_is_failed_with_nothing_sent_after(run, scripted_llm):
    scripted_llm.says(calls=[("run_shell", {"command": "sleep 30"})]).says("never")
    result = run(agent="tools: [run_shell]\ntimeout: 1h", step="prompt: Go.\ntimeout: 1s")
    assert (result.outcome, scripted_llm.request_count) == ("failed", 1)
    assert result.error == "step `writer` failed: timed out after 1 s (`timeout:`)"


def test_long_tool_output_goes_to_a_file_that_read_file_brings_back(run, scripted_llm):
    scripted_llm.says(calls=[("run_shell", {"command": "yes line | head -n 9000"})])
    scripted_llm.says(calls=[("list_dir", {})]).says("done")
    first = tool_ends(run(agent="tools: [run_shell, list_dir]"))[0]
    assert first.truncated
    assert first.spilled_to
    assert first.result.startswith("<persistent_file ")
    assert len(first.result.encode()) < 4_000 < INLINE_OUTPUT_BYTES


ASK = "tools: [{builtin: ask_user, required: true, default: patch}, write_file]"


def test_required_question_is_forced_and_its_default_is_told_as_one(run, scripted_llm):
    scripted_llm.says("I am done already").says(calls=[("ask_user", {"question": "Which bump?"})]).says("ok")
    result = run(agent=ASK)
    assert result.outcome == "succeeded"
    forced = {"type": "function", "function": {"name": "ask_user"}}
    assert [request.get("tool_choice") for request in scripted_llm.requests] == [None, forced, None]
    assert json.loads(tool_ends(result)[0].result) == {
        "answered": False,
        "answer": "patch",
        "source": "default",
        "note": "nobody is here to answer; the declared default was used",
    }


def test_required_tool_that_never_succeeds_fails_the_step_naming_it(run, scripted_llm):
    for _ in range(6):
        scripted_llm.says("no")
    result = run(agent=ASK)
    assert (result.outcome, result.error) == (
        "failed",
        "step `writer` failed: required tool `ask_user` never succeeded",
    )


def test_question_is_asked_only_by_explicit_grant(run, scripted_llm):
    scripted_llm.says("done")
    run(agent="tools: [read_file]")
    assert "ask_user" not in offered(scripted_llm.requests[0])


def test_answer_given_in_advance_is_a_tool_result(run, scripted_llm):
    question = {"question": "Which BUMP is this?", "options": ["minor", "major"]}
    scripted_llm.says(calls=[("ask_user", question)]).says("ok")
    result = run(agent=ASK, answers={"bump": "minor"})
    assert json.loads(tool_ends(result)[0].result)["answer"] == "minor"
    rows = stepsnb.questions(store=result.files["notes/plan.txt"].parents[2])
    assert rows.loc[0, ["question", "answer", "source", "agent"]].tolist() == [
        "Which BUMP is this?",
        "minor",
        "given",
        "writer",
    ]


def test_answer_that_no_question_used_is_said_at_the_end(run, scripted_llm):
    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})]).says("ok")
    result = run(agent=ASK, answers={"prot": "Bergen", "port": "Oslo"})
    notes = [event.text for event in result.events if event.kind == "note"]
    assert notes == ["the answer given for `prot` was not used: no question held that"]
    assert "`prot` was not used" in result._repr_html_().replace("<code>prot</code>", "`prot`")


def test_unanswered_question_without_default_aborts_the_step(run, scripted_llm):
    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})]).says("never")
    result = run(agent="tools: [ask_user]")
    assert (result.outcome, result.steps[-1].outcome, scripted_llm.request_count) == ("aborted", "aborted", 1)
    assert "agent `writer` asked `Which port?` and nobody is here to answer" in result.error


def test_list_of_answers_that_runs_out_is_an_error(run, scripted_llm):
    scripted_llm.says(calls=[("ask_user", {"question": "First?"})])
    scripted_llm.says(calls=[("ask_user", {"question": "Second?"})]).says("never")
    result = run(agent="tools: [ask_user]", answers=["B"])
    assert result.outcome == "errored"
    assert "question `Second?`: all 1 answers given in advance are used" in result.error


def test_fourth_question_of_a_step_comes_back_as_data(run, scripted_llm):
    for n in range(4):
        scripted_llm.says(calls=[("ask_user", {"question": f"Question {n}?"})])
    scripted_llm.says("ok")
    result = run(agent=ASK, answers={"question": "yes"})
    last = json.loads(tool_ends(result)[3].result)
    assert (last["answered"], last["source"]) == (False, "refused")
    assert "max_questions" in last["note"]


def test_owed_file_and_call_are_put_to_the_model_at_once(run, scripted_llm):
    scripted_llm.says("All done!")
    scripted_llm.says(
        calls=[("read_file", {"path": "notes/plan.txt"}), ("write_file", {"path": "report/s.md", "content": "x"})]
    ).says("Now.")
    step = """
prompt: Go.
assert:
  files: [report/s.md]
  tool_calls: [{name: read_file, args: {path: notes/plan.txt}}]
  nudge: true
"""
    result = run(agent="tools: [read_file, write_file]", step=step)
    assert result.outcome == "succeeded"
    nudges = [event for event in result.events if event.kind == "nudge"]
    assert [event.owed for event in nudges] == [["read_file(path='notes/plan.txt')", "report/s.md"]]


def test_unmet_file_without_nudge_fails_saying_that_the_flag_exists(run, scripted_llm):
    scripted_llm.says("All done!")
    result = run(agent="tools: [write_file]", step="prompt: Go.\nassert: {files: [report/s.md]}")
    assert result.error == (
        "step `writer` failed: assert.files: missing or empty: report/s.md; "
        "set `nudge: true` beside it to have the model told what it owes"
    )
    assert scripted_llm.request_count == 1


def test_assert_on_the_text_quotes_what_came_instead(run, scripted_llm):
    scripted_llm.says("It is fine.")
    result = run(step="prompt: Go.\nassert: {stdout: broken}")
    assert result.error == "step `writer` failed: assert.stdout: wanted `broken` in the output, which was `It is fine.`"


def test_tool_calls_are_an_ordered_subsequence_with_a_subset_of_the_args(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})]).says(calls=[("read_file", {"path": "notes/plan.txt"})]).says("ok")
    step = "prompt: Go.\nassert: {tool_calls: [{name: read_file}, {name: list_dir}]}"
    result = run(step=step)
    assert "assert.tool_calls: not made, in this order: list_dir()" in result.error


def test_empty_reply_is_no_success(run, scripted_llm):
    scripted_llm.says("")
    result = run()
    assert (result.outcome, "empty reply" in result.error) == ("failed", True)


def test_failed_request_is_errored_with_the_providers_words(run, scripted_llm):
    scripted_llm.says(error=(500, "the model fell over"))
    result = run(agent="attempts: 1")
    assert result.outcome == "errored"
    assert "the model fell over" in result.error
    assert scripted_llm.request_count == 1


def test_python_function_of_the_caller_is_a_tool(run, scripted_llm):
    def tide(hour: int, port: str = "Bergen") -> str:
        """Say how high the water is.

        Args:
            hour: Hour of the day, 0 to 23.
        """
        return f"{port} at {hour}: 1.2 m"

    scripted_llm.says(calls=[("tide", {"hour": 7})]).says("ok")
    result = run(agent="tools: [{python: tide}]", functions={"tide": tide})
    assert tool_ends(result)[0].result == "Bergen at 7: 1.2 m"
    schema = scripted_llm.requests[0]["tools"][0]["function"]
    assert schema["description"].startswith("Say how high the water is.")
    assert schema["parameters"]["required"] == ["hour"]
    assert "0 to 23" in schema["parameters"]["properties"]["hour"]["description"]


def test_reads_of_one_reply_start_together_and_results_keep_the_order(run, scripted_llm):
    scripted_llm.says(calls=[("read_file", {"path": "notes/plan.txt"}), ("read_file", {"path": "no/such"})]).says("ok")
    result = run()
    sent = scripted_llm.requests[1]["messages"]
    calls = [call["id"] for call in sent[-3]["tool_calls"]]
    assert [message["tool_call_id"] for message in sent[-2:]] == calls
    assert "widgets ship" in sent[-2]["content"]
    assert result.outcome == "succeeded"


def test_run_is_in_the_store_with_cost_and_transcript(run, scripted_llm, tmp_path):
    scripted_llm.says(calls=[("list_dir", {})]).says("done", usage={"input": 100, "output": 7})
    result = run()
    store = tmp_path / "store"
    assert stepsnb.runs(store=store).loc[0, ["run_id", "outcome"]].tolist() == [result.run_id, "succeeded"]
    assert stepsnb.steps(store=store)["name"].tolist() == ["prepare", "writer"]
    cost = stepsnb.cost(store=store)
    assert cost.loc[0, ["agent", "requests", "cost_usd", "price_source"]].tolist() == ["writer", 2, 0.0, "local"]
    roles = stepsnb.transcript(result.run_id, store=store)["role"].tolist()
    assert [role for role in roles if role != "note"] == ["system", "user", "assistant", "tool", "assistant"]


def test_memory_run_keeps_its_files_as_long_as_the_result(run, scripted_llm, tmp_path):
    scripted_llm.says("done")
    result = run(memory=True)
    assert result.files["notes/plan.txt"].read_text() == "widgets ship on tuesday"
    assert not Path(tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("tool", "args"),
    [("list_dir", '{"path": "\\ud800"}'), ("ask_user", '{"question": "a", "options": ["\\udfff"]}')],
)
def test_half_a_surrogate_pair_from_a_model_ends_no_run(run, scripted_llm, tool, args):
    scripted_llm.says(calls=[(tool, args)]).says("ok")
    assert run(agent="tools: [list_dir, ask_user]", answers={"": "yes"}).outcome == "succeeded"
