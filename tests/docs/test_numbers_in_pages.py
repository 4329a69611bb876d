"""The numbers that how-to pages say are those that hold."""

from pathlib import Path

import pytest

from stepsnb import settings
from stepsnb.effects import DEFAULTS
from stepsnb.messages import Mark

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def page(name: str) -> str:
    return " ".join((HOW_TO / f"{name}.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("kind", ["llm", "tool", "subagent"])
def test_table_of_clocks_shows_the_default_policy(kind: str):
    policy = DEFAULTS[kind]
    queue = "no bound" if policy.queue_timeout_s is None else f"{policy.queue_timeout_s:g} s"
    clocks = f"{queue} | {policy.run_timeout_s:g} s | {policy.total_timeout_s:,g} s | {policy.max_attempts} |"

    row = next(row for row in (HOW_TO / "retries.md").read_text("utf-8").splitlines() if row.startswith(f"| `{kind}`"))
    assert row.endswith(f"| {clocks}")


def test_waits_between_requests_are_those_of_the_policy():
    waits = [f"{DEFAULTS['llm'].wait_before(retry):g}" for retry in (1, 2, 3, 4)]

    assert f"it waits {', '.join(waits)} … seconds" in page("retries")
    assert settings.MAX_RETRY_WAIT_S == 60


def test_retries_page_names_every_mark():
    text = page("retries")

    assert [mark for mark in Mark if f"`{mark}`" not in text] == []


def test_counts_of_continuations_hold():
    text = page("retries")

    assert f"| the connection was lost in the middle | {settings.CONTINUATIONS} times in a row |" in text
    assert (settings.LENGTH_CONTINUATIONS, settings.MAX_EMPTY_REPLIES) == (2, 2)
    assert f"the step's, else the agent's, else {settings.ATTEMPTS}." in text


def test_bounds_of_long_conversations_hold():
    text = page("long-conversations")

    assert f"At {settings.COMPACT_SHARE:.0%}".replace("%", " %") in text
    assert f"else {settings.ASSUMED_WINDOW:,}." in text
    assert f"Of each it takes {settings.MAX_CONTEXT_BYTES:,} bytes" in text
    assert f"more than {settings.INLINE_OUTPUT_BYTES:,} bytes" in text
    assert f"| {settings.STEP_TIMEOUT_S / 60:g} minutes |" in text
    assert f"| {settings.MAX_TURNS} |" in text
    assert (settings.LOOP_REPEATS, settings.LOOP_WINDOW, settings.DEADLINE_SHARE) == (5, 10, 0.2)


def test_decisions_and_sub_agents_have_the_bounds_their_pages_say():
    assert settings.MAX_FORCED_CALLS_IGNORED == 5
    assert "is told so, five times" in page("decide-with-verdicts")
    assert settings.SUB_AGENT_DEPTH == 8
    assert "a chain of more than eight" in page("sub-agents")
