"""What a run did, as the `assert:` entries that hold it. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..events import Artifact, Event, Output, StepFinished, StepSkipped, StepStarted, Tool
from ..outcome import Outcome

_SUB_AGENT = "sub_agent"
_FILES = 10


@dataclass(slots=True)
class _Visit:
    kind: str
    outcome: str = ""
    code: int | None = None
    verdict: str | None = None
    files: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


def observed(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """Return what can be asserted of each step of the plan, by its place.

    `code` of a task; of an agent `verdict` and `tool_calls`, by name and in order; `files` of both. Of a step that ran
    more than once, in a loop or as the cells of a matrix, what all of them have in common. A step that was reused,
    skipped or did not succeed has nothing to hold.
    """
    visits: dict[str, list[_Visit]] = {}
    by_id: dict[str, _Visit] = {}
    for event in events:
        match event:
            case StepStarted() if event.node is not None and event.step_kind != _SUB_AGENT:
                visit = by_id[event.step_id] = _Visit(event.step_kind)
                if event.parent_id in by_id:
                    by_id[event.parent_id].kind = "block"  # of a matrix the cells count
                place = event.node.partition("[")[0]
                if event.attempt > 1 and visits.get(place):
                    visits[place].pop()
                visits.setdefault(place, []).append(visit)
            case StepSkipped() if event.node is not None:
                visits.setdefault(event.node.partition("[")[0], []).append(_Visit(event.step_kind, "skipped"))
            case StepFinished() if event.step_id in by_id:
                by_id[event.step_id].outcome, by_id[event.step_id].verdict = event.outcome, event.verdict
            case Output() if event.step_id in by_id:
                by_id[event.step_id].code = event.exit_code
            case Artifact() if event.step_id in by_id:
                by_id[event.step_id].files += [f"{event.name}/{name}" for name in event.files]
            case Tool(phase="end", ok=True) if event.step_id in by_id:
                by_id[event.step_id].calls.append(event.tool)
            case _:
                pass
    return {place: entries for place, own in visits.items() if (entries := _common(own))}


def _common(visits: Sequence[_Visit]) -> dict[str, Any]:
    kept = [visit for visit in visits if visit.kind in ("task", "agent")]
    if not kept or any(visit.outcome != Outcome.SUCCEEDED for visit in kept):
        return {}
    first, entries = kept[0], dict[str, Any]()
    if first.kind == "task" and first.code is not None and all(visit.code == first.code for visit in kept):
        entries["code"] = first.code
    if first.verdict is not None and all(visit.verdict == first.verdict for visit in kept):
        entries["verdict"] = first.verdict
    files = [name for name in first.files if all(name in visit.files for visit in kept)]
    if files:
        entries["files"] = files[:_FILES]
    if first.kind == "agent" and first.calls and all(visit.calls == first.calls for visit in kept):
        entries["tool_calls"] = [{"name": name} for name in first.calls if name not in ("verdict", "submit_output")]
        if not entries["tool_calls"]:
            del entries["tool_calls"]
    return entries
