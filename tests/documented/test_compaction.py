"""When a conversation is summarised, what of it stays, and how its size is estimated."""

import json

import pytest

import stepsnb
from tests.llm.conftest import DONE, delta
from tests.support.fixtures_step import PRINTS


def of(run, kind):
    return [event for event in run.events if event.kind == kind]


@pytest.mark.parametrize(
    ("agent", "budget"),
    [
        ({}, (102_400, 128_000, "assumed")),
        ({"context_window": 10_000}, (8_000, 10_000, "agent")),
        ({"compact_after_tokens": 7_000}, (7_000, 128_000, "assumed")),
        ({"compact_after_tokens": 0}, (None, 128_000, "assumed")),
    ],
)
def test_budget_is_80_percent_of_the_window_and_128_000_where_nobody_knows_it(run, scripted_llm, agent, budget):
    scripted_llm.says("done")
    (stated,) = of(run(agent=agent), "compaction_budget")
    assert (stated.compact_at, stated.window, stated.window_source) == budget


def talk(run, llm, letters):
    """Exchange messages of one size, until a budget of 1,000 tokens is exceeded by the sixth message of the user."""
    for _ in range(5):
        llm.says("y" * letters)
    llm.says("SUMMARY").says("done")
    messages = ["x" * letters] * 6
    return run(agent={"compact_after_tokens": 1_000, "tools": []}, step={"messages": messages})


@pytest.mark.parametrize(("letters", "kept"), [(400, 3), (404, 2)])
def test_recent_30_percent_of_the_budget_stay(run, scripted_llm, letters, kept):
    assert 3 * 400 // 4 == 300 < 3 * 404 // 4  # what a little more or less would change
    _, end = of(talk(run, scripted_llm, letters), "compaction")
    assert (end.phase, end.kept, end.error) == ("end", kept, None)
    assert len(scripted_llm.requests[-1]["messages"]) == 1 + 1 + kept


def test_results_are_cut_to_4_000_bytes_in_the_request_for_a_summary(run, scripted_llm):
    for size in (4_000, 4_001, 2_000):
        scripted_llm.says(calls=[("prints", {"n": size})])
    scripted_llm.says("SUMMARY").says("done")
    result = run(agent={"tools": [PRINTS], "compact_after_tokens": 2_400})
    assert result.text == "done"
    asked = scripted_llm.requests[-2]["messages"][-1]["content"]
    assert asked.count(f"[result of prints]\n{'x' * 4_000}\n") == 2
    assert "x" * 4_001 not in asked
    assert asked.count("[cut; it had 4,001 bytes]") == asked.count("[cut;") == 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("x" * 4_400, 1_100), ("潮" * 1_100, 1_100), ("潮" * 800 + "x" * 1_200, 1_100), ("é" * 2_200, 1_100)],
)
def test_size_is_one_a_cjk_character_and_a_quarter_of_the_other_bytes(run, scripted_llm, text, tokens):
    scripted_llm.says("done")
    start = of(run(agent={"compact_after_tokens": 1_000}, step={"messages": [text]}), "compaction")[0]
    assert (start.phase, start.before) == ("start", tokens)


def test_size_counts_the_arguments_of_calls(run, scripted_llm):
    arguments = {"path": "data/" + "x" * 4_000}
    scripted_llm.says(calls=[("list_dir", arguments)]).says("SUMMARY").says("done")
    start = of(run(agent={"compact_after_tokens": 1_000}), "compaction")[0]
    assert start.before > 1_000


@pytest.mark.parametrize("tools", [[], ["list_dir"]])
def test_size_of_a_request_has_the_system_text_and_the_tools_in_it(wire_server, tools):
    wire_server.streams(delta(content="z" * 400), delta("stop"), DONE)  # says nothing of its usage
    agent = {"name": "a", "source": {"endpoint": wire_server.base_url, "model": "m"}, "context_window": 9_000}
    jobs = [{"name": "j", "plan": [{"agent": "a", "prompt": "x" * 400}]}]
    result = stepsnb.load(json.dumps({"agents": [{**agent, "tools": tools}], "jobs": jobs})).run(memory=True)
    (usage,) = of(result, "context_usage")
    request = wire_server.requests[0].json()
    system, (offered,) = request["messages"][0]["content"], request.get("tools", [None])
    described = [] if offered is None else [offered["function"]["name"], offered["function"]["description"]]
    described += [] if offered is None else [json.dumps(offered["function"]["parameters"], separators=(",", ":"))]
    assert usage.used == 100 + 100 + sum(-(-len(text) // 4) for text in (system, *described))
