"""What differs between two runs, step by step: what went in, what was done, what came out, and what it cost. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ..events import Event, MessageAdded, Request, RunFinished, StepFinished, StepSkipped, StepStarted, Tool
from ..usage import Usage
from .results import total_cost_usd, total_usage

RUN = ""
"""The step of what is about the run as a whole."""

_TOKENS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two runs have, or one of them: `what` it is, of which `step`, in the one and in the other.

    `step` is the path in the plan with the name, a second visit with its number behind it. None means that the run has
    no such thing. `a` and `b` are texts, or numbers.
    """

    step: str
    what: str
    a: str | float | None
    b: str | float | None

    @property
    def is_same(self) -> bool:
        """Whether both runs have the same."""
        return self.a == self.b


@dataclass(slots=True)
class _Visit:
    """A step of a run: its facts by name, and its tool calls."""

    title: str
    step_id: str = ""
    facts: dict[str, str | float | None] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


def compare(a: Iterable[Event], b: Iterable[Event]) -> list[Difference]:
    """Compare two runs by their events; steps are matched by their place in the plan and the number of the visit.

    Steps are in the order of the first run, those that only the second one has behind them; the run as a whole comes
    last. Tool calls are matched like lines of a file: one that was put in moves those behind it.
    """
    first, second = list(a), list(b)
    visits = (_visits(first), _visits(second))
    keys = list(dict.fromkeys([*visits[0], *visits[1]]))
    found = [row for key in keys for row in _of_step(visits[0].get(key), visits[1].get(key))]
    return [*found, *_rows(RUN, _facts_of_run(first), _facts_of_run(second))]


def _visits(events: Sequence[Event]) -> dict[tuple[str, int], _Visit]:
    """Return the steps of a run by place and number; a sub-agent's conversation belongs to the step that called it."""
    found: dict[tuple[str, int], _Visit] = {}
    by_id: dict[str, _Visit] = {}
    counts: dict[str, int] = {}
    for event in events:
        match event:
            case StepStarted(step_kind="sub_agent") if event.parent_id in by_id:
                by_id[event.step_id] = by_id[event.parent_id]
            case StepStarted() | StepSkipped():
                place = f"{event.node or event.step_id} {event.name}"
                counts[place] = counts.get(place, 0) + 1
                again = f" ({counts[place]})" if counts[place] > 1 else ""
                visit = by_id[event.step_id] = found[place, counts[place]] = _Visit(f"{place}{again}", event.step_id)
                visit.facts |= _facts_of_start(event)
            case _ if event.step_id in by_id:
                by_id[event.step_id].events.append(event)
    for visit in found.values():
        _fill(visit)
    return found


def _facts_of_start(event: StepStarted | StepSkipped) -> dict[str, str | float | None]:
    if isinstance(event, StepSkipped):
        outcome = "reused" if event.reused else "skipped"
        return {"outcome": outcome, "reason": event.reason or None, "response": event.response}
    return {"model": event.model, "tools": ", ".join(event.tools) or None}


def _fill(visit: _Visit) -> None:
    said: Mapping[str, list[str]] = {"system": [], "messages": []}
    for event in visit.events:
        match event:
            case MessageAdded() if event.step_id != visit.step_id:
                pass  # told to a sub-agent
            case MessageAdded(role="system"):
                said["system"].append(event.text)
            case MessageAdded(role="user", synthetic=False):
                said["messages"].append(event.text)
            case Tool(phase="end"):
                visit.calls.append(f"{event.tool} {event.args}".strip())
            case StepFinished(step_kind="sub_agent"):
                pass
            case StepFinished():
                visit.facts |= {
                    "outcome": event.outcome,
                    "reason": event.reason,
                    "verdict": event.verdict,
                    "note": event.note,
                    "response": event.response,
                    "output": event.output,
                    "fallback_model": event.fallback_model,
                    "duration_s": event.duration_s,
                }
    visit.facts |= {name: "\n\n".join(texts) or None for name, texts in said.items()}
    if any(isinstance(event, Request) for event in visit.events):
        visit.facts |= _spent(tuple(visit.events))


def _spent(events: tuple[Event, ...]) -> dict[str, str | float | None]:
    usage: Usage = total_usage(events)
    cost = total_cost_usd(events)
    tokens: dict[str, str | float | None] = {name: getattr(usage, name) for name in _TOKENS}
    return {**tokens, "cost_usd": None if cost is None else float(cost)}


_ORDER = (
    *("model", "tools", "system", "messages", "outcome", "reason", "verdict", "note", "response", "output"),
    *("fallback_model", *_TOKENS, "cost_usd", "duration_s"),
)


def _of_step(a: _Visit | None, b: _Visit | None) -> Iterator[Difference]:
    title = (a or b or _Visit("")).title
    yield from _rows(title, a.facts if a else {}, b.facts if b else {})
    for number, (left, right) in enumerate(_matched(a.calls if a else [], b.calls if b else []), 1):
        yield Difference(title, f"call {number}", left, right)


def _rows(step: str, a: Mapping[str, str | float | None], b: Mapping[str, str | float | None]) -> Iterator[Difference]:
    for what in _ORDER:
        row = Difference(step, what, a.get(what), b.get(what))
        if row.a is not None or row.b is not None:
            yield row


def _matched(a: list[str], b: list[str]) -> Iterator[tuple[str | None, str | None]]:
    for kind, a1, a2, b1, b2 in SequenceMatcher(a=a, b=b, autojunk=False).get_opcodes():
        left, right = a[a1:a2], b[b1:b2]
        if kind in ("equal", "replace"):
            longest = max(len(left), len(right))
            yield from zip(
                [*left, *[None] * (longest - len(left))], [*right, *[None] * (longest - len(right))], strict=True
            )
        else:
            yield from ((call, None) for call in left)
            yield from ((None, call) for call in right)


def _facts_of_run(events: Sequence[Event]) -> dict[str, str | float | None]:
    end = next((event for event in reversed(events) if isinstance(event, RunFinished)), None)
    facts: dict[str, str | float | None] = {} if end is None else {"outcome": end.outcome, "duration_s": end.duration_s}
    if any(isinstance(event, Request) for event in events):
        facts |= _spent(tuple(events))
    return facts
