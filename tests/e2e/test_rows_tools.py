"""What a model may do with its tools and what it is told: edits, programs of the author's, limits, deadlines."""

import json
import time

import pytest

import stepsnb
from stepsnb.errors import ConfigError
from tests.support.fixtures_step import PRINTS

TEXT = "class A:\n    def f(self):\n        x = 1   \n        return x\n\n# the end\n"


def edits(llm, old, new, **more):
    llm.says(calls=[("edit_file", {"path": "data/a.py", "old_string": old, "new_string": new, **more})])


def edit(run, llm, *, text=TEXT):
    """Run the edits that were said, of a file that belongs to the step's output; returns the run."""
    llm.says("done")
    step = {"outputs": ["data"]}
    return run(agent={"tools": ["edit_file"]}, step=step, prepare=f"cat > data/a.py <<'END'\n{text}END")


def test_model_is_told_how_to_make_an_edit_unique_and_then_makes_it(run, scripted_llm, ends):
    edits(scripted_llm, "one", "1")
    edits(scripted_llm, "none", "1")
    edits(scripted_llm, "one\ntwo", "1\ntwo")
    result = edit(run, scripted_llm, text="one\ntwo\none\n")
    many, none, done = ends(result)
    assert (many.ok, none.ok, done.ok) == (False, False, True)
    assert "2 times, in lines 1, 3; add the lines around it" in json.loads(many.result)["error"]
    assert "read the file again with read_file" in json.loads(none.result)["error"]
    assert json.loads(done.result) == {"replacements": 1, "first_line": 1, "match_mode": "exact"}
    assert result.files["data/a.py"].read_text() == "1\ntwo\none\n"


def test_every_place_is_edited_when_asked_for(run, scripted_llm, ends):
    edits(scripted_llm, "one", "1", replace_all=True)
    result = edit(run, scripted_llm, text="one\ntwo\none\n")
    assert json.loads(ends(result)[0].result)["replacements"] == 2
    assert result.files["data/a.py"].read_text() == "1\ntwo\n1\n"


@pytest.mark.parametrize(
    ("old", "mode"),
    [
        ("        return x\n\n", "exact"),
        ("def f(self):\n    x = 1\n    return x", "line-trimmed"),
        ("    def f(self):\n        x = 10\n        return x", "block-anchor"),
    ],
)
def test_edit_is_found_in_three_ways_and_other_text_stays_the_files_own(run, scripted_llm, ends, old, mode):
    edits(scripted_llm, old, old.replace("return x", "return -x"))
    result = edit(run, scripted_llm)
    assert json.loads(ends(result)[0].result)["match_mode"] == mode
    assert result.files["data/a.py"].read_text() == TEXT.replace("return x", "return -x")


# -- programs of the author's


GREET = {"name": "greet", "description": "Greets.", "run": "printf 'hello %s' {{ .args.who | shellquote }}"}


def test_arguments_of_a_custom_tool_are_its_references_and_arrive_whole(run, scripted_llm, ends):
    who = "$(id) `id` 'x' \"y\" \\ ; rm *\n潮"
    scripted_llm.says(calls=[("greet", {"who": who})]).says("done")
    (end,) = ends(run(agent={"tools": [GREET]}))
    assert (end.ok, end.result) == (True, f"hello {who}")
    (offered,) = scripted_llm.requests[0]["tools"]
    assert offered["function"]["parameters"]["properties"] == {"who": {"type": "string"}}
    assert offered["function"]["parameters"]["required"] == ["who"]


def test_custom_tool_that_fails_is_data_and_the_step_goes_on(run, scripted_llm, ends):
    fails = {**GREET, "run": "echo part; echo why >&2; exit 3"}
    scripted_llm.says(calls=[("greet", {})]).says("so be it")
    result = run(agent={"tools": [fails]})
    (end,) = ends(result)
    assert (result.outcome, result.text, end.ok) == ("succeeded", "so be it", False)
    assert json.loads(end.result) == {"exit_code": 3, "stdout": "part\n", "stderr": "why\n"}


def test_further_calls_than_max_calls_are_refused_before_the_tool_runs(run, scripted_llm, ends):
    counts = {"name": "count", "description": "Counts.", "run": "echo x >> data/log", "max_calls": 2}
    for _ in range(3):
        scripted_llm.says(calls=[("count", {})])
    scripted_llm.says("done")
    result = run(agent={"tools": [counts]}, step={"outputs": ["data"]})
    assert [(end.ok, end.denied_by) for end in ends(result)] == [(True, None), (True, None), (False, "max_calls")]
    assert result.files["data/log"].read_text() == "x\nx\n"


@pytest.mark.parametrize("sent", [{}, {"who": "everybody"}])
def test_pinned_argument_is_not_offered_and_cannot_be_changed(run, scripted_llm, ends, sent):
    scripted_llm.says(calls=[("greet", sent)]).says("done")
    (end,) = ends(run(agent={"tools": [{**GREET, "args": {"who": "Fowey"}}]}))
    assert end.result == "hello Fowey"
    assert scripted_llm.requests[0]["tools"][0]["function"]["parameters"]["properties"] == {}


def test_pinned_argument_of_a_function_overrides_too(run, scripted_llm, ends):
    def tide(hour: int, port: str) -> str:
        return f"{port} at {hour}"

    scripted_llm.says(calls=[("tide", {"hour": 7, "port": "Oslo"})]).says("done")
    grant = {"python": "tide", "args": {"port": "Fowey"}}
    (end,) = ends(run(agent={"tools": [grant]}, functions={"tide": tide}))
    assert end.result == "Fowey at 7"
    assert list(scripted_llm.requests[0]["tools"][0]["function"]["parameters"]["properties"]) == ["hour"]


def test_pinned_argument_cannot_be_asserted(run):
    step = {"assert": {"tool_calls": [{"name": "greet", "args": {"who": "Fowey"}}]}}
    with pytest.raises(ConfigError, match="`who` of `greet` is pinned, the model never gives it"):
        run(agent={"tools": [{**GREET, "args": {"who": "Fowey"}}]}, step=step)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"stdout": "fine"}, "`nudge: true` beside `stdout:` would tell the model what to say"),
        ({"verdict": "approve"}, "`nudge: true` beside `verdict:` would tell the model what to"),
    ],
)
def test_nudge_towards_a_wanted_conclusion_is_an_error(run, wanted, words):
    step = {"outputs": ["report"], "verdicts": ["approve", "revise"]}
    step["assert"] = {"files": ["report/a.md"], "nudge": True, **wanted}
    with pytest.raises(ConfigError, match=words):
        run(agent={"tools": ["write_file"]}, step=step)


# -- how much they give


def printed() -> str:
    return "x" * 150


@pytest.mark.parametrize("grant", [{**PRINTS, "run": "head -c 150 /dev/zero | tr '\\0' x"}, {"python": "prints"}])
@pytest.mark.parametrize(("bound", "is_inline"), [(150, True), (149, False)])
def test_own_bound_of_a_tool_decides_what_becomes_a_file(run, scripted_llm, ends, grant, bound, is_inline):
    scripted_llm.says(calls=[("prints", {})]).says("done")
    result = run(agent={"tools": [{**grant, "max_output_bytes": bound}]}, functions={"prints": printed})
    (end,) = ends(result)
    assert (end.result == "x" * 150, end.spilled_to is None) == (is_inline, is_inline)


@pytest.mark.parametrize("grant", [{"builtin": "run_shell"}, {"agent": "helper"}])
def test_other_tools_have_no_bound_of_their_own(scripted_llm, grant):
    source = {"model": scripted_llm.model}
    agents = [
        {"name": "helper", "source": source},
        {"name": "lead", "source": source, "tools": [{**grant, "max_output_bytes": 100}]},
    ]
    jobs = [{"name": "j", "plan": [{"agent": "lead", "prompt": "Go."}]}]
    with pytest.raises(ConfigError, match=r"`tools\.max_output_bytes:` is for custom and Python tools"):
        stepsnb.load(json.dumps({"agents": agents, "jobs": jobs}))


# -- how long they take


SLOW = {"name": "slow", "description": "Waits.", "run": "echo waiting for widgetd; sleep 20", "timeout": "1s"}


def test_call_that_runs_too_long_is_data_with_what_it_had_said_and_the_step_goes_on(run, scripted_llm, ends):
    scripted_llm.says(calls=[("slow", {})]).says("It hangs.")
    result = run(agent={"tools": [SLOW]})
    (end,) = ends(result)
    assert (result.outcome, result.text, end.ok, end.code) == ("succeeded", "It hangs.", False, "deadline_exceeded")
    told = json.loads(end.result)
    assert told["stdout"] == "waiting for widgetd\n"
    assert "`slow` timed out after 1 s (deadline exceeded while running)" in told["error"]


def nap() -> str:
    time.sleep(3)
    return "late"


@pytest.mark.parametrize(
    ("grant", "call"),
    [
        ({"builtin": "run_shell", "timeout": "1s"}, ("run_shell", {"command": "sleep 20"})),
        ({"python": "nap", "timeout": "1s"}, ("nap", {})),
        (SLOW, ("slow", {})),
    ],
)
def test_every_form_of_grant_takes_a_timeout(run, scripted_llm, ends, grant, call):
    scripted_llm.says(calls=[call]).says("done")
    result = run(agent={"tools": [grant]}, functions={"nap": nap})
    (end,) = ends(result)
    assert (result.text, end.ok, end.code) == ("done", False, "deadline_exceeded")


def test_each_call_has_the_whole_of_its_timeout(run, scripted_llm, ends):
    for number in range(3):
        scripted_llm.says(calls=[("run_shell", {"command": f"sleep 0.8; echo {number}"})])
    scripted_llm.says("done")
    result = run(agent={"tools": [{"builtin": "run_shell", "timeout": "2s"}]})
    assert [end.ok for end in ends(result)] == [True, True, True]


def test_success_that_comes_late_stays_one_and_files_are_never_left_half_written(run, scripted_llm, ends):
    saved = {**SLOW, "run": "trap 'echo saved; exit 0' TERM; sleep 20 & wait"}
    scripted_llm.says(calls=[("write_file", {"path": "data/a.txt", "content": "whole"})])
    scripted_llm.says(calls=[("slow", {})]).says("done")
    retry = {"tool": {"run_timeout_secs": 1e-6}}
    result = run(agent={"tools": ["write_file", saved], "retry": retry}, step={"outputs": ["data"]})
    assert ends(result)[0].ok
    assert result.files["data/a.txt"].read_text() == "whole"
    assert json.loads(ends(result)[1].result)["stdout"] == "saved\n"


def test_timeout_stands_with_the_grant_and_not_with_a_steps_selection(run, scripted_llm):
    selected = {"builtin": "run_shell", "timeout": "1s"}
    with pytest.raises(ConfigError, match="sets `timeout:`, which binds where the tool is granted"):
        run(agent={"tools": ["run_shell"]}, step={"tools": [selected]})


def test_tool_of_the_steps_own_brings_its_timeout(run, scripted_llm, ends):
    scripted_llm.says(calls=[("slow", {})]).says("done")
    (end,) = ends(run(agent={"tools": ["run_shell"]}, step={"tools": [SLOW]}))
    assert (end.ok, end.code) == (False, "deadline_exceeded")
    assert [tool["function"]["name"] for tool in scripted_llm.requests[0]["tools"]] == ["slow"]
