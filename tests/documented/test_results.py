"""How much of a tool's result, of a file and of an output is shown, kept and recorded."""

import json

import pytest

import stepsnb
from stepsnb.agent.compaction import summary_request
from stepsnb.errors import ConfigError
from stepsnb.messages import Message
from tests.support.fixtures_step import PRINTS


@pytest.mark.parametrize(("size", "is_inline"), [(32_000, True), (32_001, False)])
def test_result_of_32_000_bytes_is_shown_and_a_longer_one_is_a_file(run, scripted_llm, ends, size, is_inline):
    scripted_llm.says(calls=[("prints", {"n": size})]).says("done")
    (end,) = ends(run(agent={"tools": [PRINTS]}))
    shown = scripted_llm.requests[1]["messages"][-1]["content"]
    assert (end.spilled_to is None, shown == "x" * size, end.truncated) == (is_inline, is_inline, not is_inline)


def test_pointer_to_the_file_is_below_4_000_bytes_whatever_the_result(run, scripted_llm, ends):
    wide = {**PRINTS, "run": "yes 潮位は四・一メートル | head -c {{ .args.n }}"}
    scripted_llm.says(calls=[("prints", {"n": 9_000_000})]).says("done")
    (end,) = ends(run(agent={"tools": [wide]}))
    assert end.result.startswith("<persistent_file ")
    assert len(end.result.encode()) < 4_000


def pointer(size):
    start, end = '<persistent_file path=".steps-output/a.txt">', "</persistent_file>"
    return start + "p" * (size - len(start) - len(end)) + end


@pytest.mark.parametrize(("size", "is_whole"), [(4_000, True), (4_001, False)])
def test_pointer_of_4_000_bytes_survives_a_compaction(size, is_whole):
    text = pointer(size)
    result = Message(role="tool", name="prints", tool_call_id="c", content=f"{'x' * 5_000}\n{text}")
    assert (text in summary_request([result])[-1].content) == is_whole


@pytest.mark.parametrize(("size", "kept"), [(10_000_000, 10_000_000), (10_000_001, 10_000_000)])
def test_file_of_a_long_result_has_at_most_10_mb(run, scripted_llm, ends, size, kept):
    scripted_llm.says(calls=[("prints", {"n": size})])
    scripted_llm.says(calls=[("run_shell", {"command": "cat .steps-output/* | wc -c"})]).says("done")
    first, second = ends(run(agent={"tools": [PRINTS, "run_shell"]}))
    assert int(json.loads(second.result)["stdout"]) == kept
    assert ("Only the first 10,000,000 of" in first.result) == (size > kept)


def test_own_bound_of_a_tool_is_at_most_10_mb(run, scripted_llm):
    scripted_llm.says("done")
    run(agent={"tools": [{**PRINTS, "max_output_bytes": 10_000_000}]})
    with pytest.raises(ConfigError, match="max_output_bytes"):
        run(agent={"tools": [{**PRINTS, "max_output_bytes": 10_000_001}]})


# -- files


def read(run, llm, ends, size):
    llm.says(calls=[("read_file", {"path": "data/a.txt"})]).says("done")
    (end,) = ends(run(prepare=f"yes 123456789 | head -c {size} > data/a.txt"))
    return end, llm.requests[1]["messages"][-1]["content"]


def test_read_file_gives_100_000_bytes_in_one_call_and_never_a_pointer(run, scripted_llm, ends):
    end, shown = read(run, scripted_llm, ends, 100_000)
    assert (shown, end.truncated, end.spilled_to) == ("123456789\n" * 10_000, False, None)


def test_read_file_pages_what_is_longer(run, scripted_llm, ends):
    end, shown = read(run, scripted_llm, ends, 100_001)
    assert shown == "123456789\n" * 10_000 + (
        "[cut after line 10,000, at 100,000 bytes; read on with start_line 10001]"
    )
    assert (end.truncated, end.spilled_to) == (True, None)


@pytest.mark.parametrize(("size", "is_cut"), [(100_000, False), (100_001, True)])
def test_context_file_has_at_most_100_000_bytes(run, scripted_llm, size, is_cut):
    scripted_llm.says("done")
    run(prepare=f"yes 123456789 | head -c {size} > data/a.txt", step={"context_paths": ["data/a.txt"]})
    shown = scripted_llm.requests[0]["messages"][3]["content"]
    assert shown.startswith("123456789\n" * 10_000)
    assert ("at 100,000 bytes" in shown) == is_cut


def test_context_file_is_whole_where_the_bound_is_zero(run, scripted_llm):
    scripted_llm.says("done")
    step = {"context_paths": ["data/a.txt"], "max_context_bytes": 0}
    run(prepare="yes 123456789 | head -c 300000 > data/a.txt", step=step)
    assert scripted_llm.requests[0]["messages"][3]["content"] == "123456789\n" * 30_000


# -- records


def test_trajectory_has_2_048_bytes_of_each_argument(run, scripted_llm, store):
    fits, long = "a" * 2_048, "b" * 2_049
    scripted_llm.says(calls=[("search_files", {"pattern": fits, "glob": long})]).says("done")
    args = json.loads(stepsnb.trajectory(run().run_id, store=store).loc[0, "args"])
    assert args == {"pattern": fits, "glob": long[:2_048]}


def test_transcript_has_4_096_bytes_of_each_result(run, scripted_llm, store):
    scripted_llm.says(calls=[("prints", {"n": 4_096}), ("prints", {"n": 4_097})]).says("done")
    rows = stepsnb.transcript(run(agent={"tools": [PRINTS]}).run_id, store=store)
    tools = rows[rows["role"] == "tool"]
    assert (tools["text"].str.len().tolist(), tools["text_bytes"].tolist()) == ([4_096, 4_096], [4_096, 4_097])


def test_tool_calls_have_32_000_bytes_of_what_the_model_saw(run, scripted_llm, store):
    scripted_llm.says(calls=[("read_file", {"path": "data/a.txt"})]).says("done")
    run(prepare="head -c 50000 /dev/zero | tr '\\0' x > data/a.txt")
    assert len(scripted_llm.requests[1]["messages"][-1]["content"]) == 50_000
    assert stepsnb.tool_calls(store=store).loc[0, "result"] == "x" * 32_000


@pytest.mark.parametrize(("size", "kept"), [(16_384, 16_384), (16_385, 16_384)])
def test_record_has_16_kb_of_each_stream_of_a_task_and_its_true_size(run, scripted_llm, size, kept):
    scripted_llm.says("done")
    shell = f"head -c {size} /dev/zero | tr '\\0' o; head -c {size + 7} /dev/zero | tr '\\0' e >&2"
    output = next(event for event in run(prepare=shell).events if event.kind == "output")
    assert (output.stdout, output.stdout_bytes) == ("o" * kept, size)
    assert (output.stderr, output.stderr_bytes) == ("e" * 16_384, size + 7)
