"""The real local model in json mode: it cannot call tools by itself, and calls them and decides all the same."""

import stepsnb

PIPELINE = """
agents:
- name: judge
  source: {model: local/smollm2, tool_mode: json}
  tools: [read_file]
jobs:
- name: gate
  plan:
  - task: test
    outputs: [data]
    run: printf 'All 12 tests passed.' > data/tests.txt
  - agent: judge
    inputs: [data]
    prompt: Read data/tests.txt and decide whether the change is ready.
    verdicts: [ready, blocked]
    assert:
      tool_calls: [{name: read_file, args: {path: data/tests.txt}}]
      nudge: true
  - task: show
    context: {from: {judge: verdict}}
    run: cat upstream/judge
"""


def test_local_model_calls_a_tool_and_gives_a_verdict(tmp_path):
    run = stepsnb.load(PIPELINE).run(store=tmp_path)
    assert run.outcome == "succeeded", run.error
    assert run.verdict in ("ready", "blocked")
    assert run.steps[-1].text == f"{run.verdict}\n"
    ends = [event for event in run.events if event.kind == "tool" and event.phase == "end"]
    read = [end.result for end in ends if end.tool == "read_file" and end.ok]
    assert "All 12 tests passed." in read
    assert [end.ok for end in ends if end.tool == "verdict"][-1]
