"""A run as its events tell of it: what its caller got when it ended, found again in the store."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..events import Artifact, Event, RunFinished, RunResumed, RunStarted, StepFinished, StepSkipped, StepStarted
from ..outcome import Outcome
from .results import RunResult, StepResult

_SUB_AGENT = "sub_agent"


def result_of(events: Iterable[Event], store_root: Path) -> RunResult:
    """Build the result of a run from its events; one that has not ended has outcome None.

    Of a step that was tried again the last attempt counts. Blocks, matrices and sub-agents are no steps of their own.
    Typed output is plain JSON here: the class it was made with is not recorded.
    """
    kept = tuple(events)
    started = [event for event in kept if isinstance(event, StepStarted) and event.step_kind != _SUB_AGENT]
    blocks = {event.parent_id for event in started}
    ended = {event.step_id: event for event in kept if isinstance(event, StepFinished)}
    found: dict[tuple[str | None, str | None, str], StepResult] = {}
    for event in kept:
        if isinstance(event, StepSkipped) and event.reused:
            found[event.parent_id, event.node, event.step_id] = _reused(event)
        elif isinstance(event, StepStarted) and event.step_kind != _SUB_AGENT and event.step_id not in blocks:
            if event.attempt > 1:
                _drop_attempt_before(found, event)
            if event.step_id in ended:
                found[event.parent_id, event.node, event.step_id] = _result(ended[event.step_id])
    last = next((event for event in reversed(kept) if isinstance(event, RunFinished)), None)
    begun = [event for event in kept if isinstance(event, RunStarted | RunResumed)]
    is_open = last is None or kept.index(last) < kept.index(begun[-1])
    return RunResult(
        run_id=kept[0].run_id,
        job=begun[0].job,
        outcome=None if last is None or is_open else Outcome(last.outcome),
        error=None if last is None or is_open else last.error,
        steps=tuple(found.values()),
        artifacts={event.name: store_root / event.path for event in kept if isinstance(event, Artifact)},
        events=kept,
    )


def _drop_attempt_before(found: dict[tuple[str | None, str | None, str], StepResult], event: StepStarted) -> None:
    before = [key for key in found if key[:2] == (event.parent_id, event.node)]
    if before:
        del found[before[-1]]


def _result(event: StepFinished) -> StepResult:
    return StepResult(
        event.step_id,
        event.name,
        event.step_kind,
        Outcome(event.outcome),
        event.reason,
        event.response,
        event.verdict,
        event.note,
        _data(event.output),
        is_final=event.is_final,
        output=event.output,
    )


def _reused(event: StepSkipped) -> StepResult:
    return StepResult(
        event.step_id,
        event.name,
        event.step_kind,
        Outcome.REUSED,
        event.reason,
        event.response,
        data=_data(event.output),
        output=event.output,
    )


def _data(output: str | None) -> object:
    return None if output is None else msgspec.json.decode(output)
