"""Agents that call agents."""

import pytest

from stepsnb.config import load_text
from stepsnb.settings import SUB_AGENT_DEPTH


def pipeline(**calls):
    """A pipeline of agents, each with the agents it calls."""
    agents = ""
    for name, called in calls.items():
        tools = ", ".join(f"{{agent: {each}}}" for each in called)
        agents += f"- {{name: {name}, source: {{model: local/smollm2}}, tools: [{tools}]}}\n"
    return f"agents:\n{agents}jobs: [{{name: j, plan: [{{agent: {next(iter(calls))}, prompt: Go.}}]}}]\n"


def chain(length):
    return {f"a{n}": [f"a{n + 1}"] if n < length else [] for n in range(length + 1)}


def test_an_agent_may_be_called_by_several():
    assert len(load_text(pipeline(a=["b", "c"], b=["d"], c=["d", "b"], d=[])).agents) == 4


def test_as_many_levels_as_allowed_load():
    assert SUB_AGENT_DEPTH == 8
    assert len(load_text(pipeline(**chain(8))).agents) == 9


def test_one_level_more_is_refused_once(problems):
    [line] = problems(pipeline(**chain(9)))

    assert line.startswith("2:")
    assert "sub-agents nested 9 deep, at most 8: a0 -> a1 -> " in line


def test_a_very_long_chain_is_refused_where_it_gets_too_long(problems):
    [line] = problems(pipeline(**chain(3000)))

    assert "agent `a2991`: sub-agents nested 9 deep" in line


def test_each_circle_is_named_once(problems):
    lines = problems(pipeline(a=["b"], b=["c", "a"], c=["a", "d"], d=["e"], e=["d"]))

    assert [line.partition("circle: ")[2].partition(";")[0] for line in lines] == [
        "a -> b -> a",
        "a -> b -> c -> a",
        "d -> e -> d",
    ]


@pytest.mark.parametrize("tools", ["[{agent: b, timeout: x}]", "[{agent: b}, nonsense]"])
def test_error_in_a_grant_hides_no_circle_of_others_and_makes_none(problems, tools):
    text = pipeline(a=["b"], b=["a"]).replace("[{agent: b}]", tools)

    assert [line for line in problems(text) if "circle" in line] == []
