"""The short facts about a run that its HTML and its text say alike: headline, table of steps, what went wrong."""

from typing import Any, NamedTuple

from ..visible import one_line
from .rows import in_order_of_time, in_plan_order
from .words import count_words, duration_words, tokens_words

_CELL_CHARACTERS = 80
_COLUMNS = ("step", "outcome", "decision", "tokens", "cost", "time")
_ALWAYS = 2


class Limits(NamedTuple):
    """How much a static result shows: characters of one text, of one result, entries of a step, steps."""

    text: int
    result: int
    items: int
    steps: int


LIMITS = (
    Limits(60_000, 8_000, 1_000, 400),
    Limits(20_000, 2_000, 500, 400),
    Limits(8_000, 1_000, 300, 200),
    Limits(2_000, 300, 150, 150),
    Limits(600, 150, 60, 100),
    Limits(200, 80, 20, 40),
    Limits(100, 40, 6, 20),
    Limits(80, 0, 0, 20),
)
"""Tried in this order until the result fits, so long texts are cut before entries are left out."""


def title(state: dict[str, Any]) -> str:
    """Name the run: its job, else its only step, else `run`."""
    if state["job"]:
        return str(state["job"])
    return str(state["steps"][0]["name"]) if len(state["steps"]) == 1 else "run"


def headline(state: dict[str, Any]) -> str:
    """Say how the run went, how long it took and what it used."""
    duration_s = state["duration_s"]
    if duration_s is None:
        duration_s = sum(step["duration_s"] or 0 for step in state["steps"])
    facts = [
        ending(state),
        duration_words(duration_s) if duration_s else "",
        tokens_words(state["tokens"], state["cached_percent"]),
        state["cost"],
        f"run {state['run_id']}" if state["run_id"] else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def ending(state: dict[str, Any]) -> str:
    """Say how the run ended; one that did not end is `unfinished`, or waits for its next step."""
    if state["outcome"] or state["forked_to"]:
        return str(state["status"])
    statuses = [step["status"] for step in state["steps"]]
    if not statuses or "running" in statuses or "waiting" in statuses:
        return "unfinished"
    done = sum(status != "pending" for status in statuses)
    return f"{done} of {count_words(len(statuses), 'step')} done"


def what_went_wrong(state: dict[str, Any]) -> str | None:
    """Return the run's error, else the reason of the last step that did not succeed; None when all went well."""
    if state["error"]:
        return str(state["error"])
    if state["outcome"] == "succeeded":
        return None
    if state["forked_to"]:
        return None
    for step in reversed(in_order_of_time(state["steps"])):
        if step["status"] in ("failed", "errored", "aborted") and step["reason"]:
            return f"step {step['name']}: {step['reason']}"
    return None


def table_of_steps(state: dict[str, Any], limits: Limits) -> list[list[str]]:
    """Return the header and a row for each step, in the order of the plan; columns that say nothing are left out."""
    steps = in_plan_order(state["steps"])[: limits.steps]
    rows = [list(_COLUMNS), *([one_line(cell, _CELL_CHARACTERS) for cell in _row(step, state)] for step in steps)]
    kept = [i for i in range(len(_COLUMNS)) if i < _ALWAYS or any(row[i] for row in rows[1:])]
    return [[row[i] for i in kept] for row in rows]


def _row(step: dict[str, Any], state: dict[str, Any]) -> list[str]:
    outcome = step["status"]
    if outcome == "pending":
        outcome = "not run" if state["outcome"] or state["forked_to"] else "to come"
    elif outcome == "taken over":
        outcome = step["reason"].partition(",")[0]
    return [
        step["name"],
        outcome,
        step["verdict"] or "",
        f"{step['tokens']:,}" if step["tokens"] else "",
        step["cost"],
        "" if step["duration_s"] is None else duration_words(step["duration_s"]),
    ]


def steps_left_out(state: dict[str, Any], limits: Limits) -> str:
    """Say how many rows the table lacks; empty when none."""
    missing = len(state["steps"]) - limits.steps
    return f"… and {count_words(missing, 'more step')}" if missing > 0 else ""


def step_line(step: dict[str, Any]) -> str:
    """Name a step and say what happened in it, as the line its transcript is folded under."""
    counts = ((step["turn"], "turn"), (step["tool_calls"], "tool call"), (step["questions"], "question"))
    facts = [", ".join(count_words(count, noun) for count, noun in counts if count)]
    facts.append(step["model"] or "")
    if step["status"] == "taken over":
        facts.append(step["reason"])
    elif step["status"] not in ("succeeded", "pending"):
        facts.append(step["status"])
    return " · ".join([one_line(step["name"], _CELL_CHARACTERS), *(fact for fact in facts if fact)])


def conversation_line(item: dict[str, Any]) -> str:
    """Name a sub-agent's conversation and say what happened in it and what it used."""
    line = step_line(item)
    name = one_line(item["name"], _CELL_CHARACTERS)
    asked = f"{name}, asked by {one_line(item['asked_by'], _CELL_CHARACTERS)}"
    return " · ".join(filter(None, [asked + line.removeprefix(name), item["usage"]]))


def verdict_words(step: dict[str, Any]) -> str:
    """Say what a step decided and noted; empty when it decided nothing."""
    return " · ".join(filter(None, [step["verdict"], step["note"]]))


def has_transcript(step: dict[str, Any]) -> bool:
    """Whether there is anything to say about a step beside its row in the table."""
    return bool(step["items"] or step["verdict"] or step["note"] or step["output"])


def shown_steps(state: dict[str, Any], limits: Limits) -> list[dict[str, Any]]:
    """Return the steps whose transcripts are shown, as they had their turn."""
    kept = {id(step) for step in in_plan_order(state["steps"])[: limits.steps]}
    return [step for step in in_order_of_time(state["steps"]) if id(step) in kept and has_transcript(step)]


def shown_items(step: dict[str, Any], limits: Limits) -> tuple[list[dict[str, Any]], int, list[dict[str, Any]]]:
    """Return a step's first entries, how many are left out after them, and its last ones."""
    items = step["items"]
    if len(items) <= limits.items:
        return items, 0, []
    head = limits.items // 3
    tail = limits.items - head
    return items[:head], len(items) - limits.items, items[len(items) - tail :] if tail else []


def answer_words(item: dict[str, Any]) -> str:
    """Say what a question's answer was and who gave it."""
    if item["status"] == "answered":
        return f"{item['answer']} ({item['by']})" if item["by"] else str(item["answer"])
    return {"asked": "not answered yet", "expired": "nobody answered"}.get(item["status"], "not answered")


def cut_words(cut: int) -> str:
    """Say how much of a text is missing; empty when it is whole."""
    return f"… {count_words(cut, 'more character')} cut here" if cut else ""
