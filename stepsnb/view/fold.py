"""Folds the events of a run, live or stored, into the one state that every view of it draws.

The state is JSON-able:

- `run_id`, `pipeline`, `job`, `status` (what a person reads), `outcome` (None until the run ended), `error`,
  `forked_to` (the run that goes on from this one instead, which has no outcome then);
- `started_at` (seconds since 1970), `duration_s`; `tokens`, `cached_percent`, `cost` (in words);
- `steps`: one for each step of the plan, and one more for each further visit and each step that was added; they are
  read as `rows.in_plan_order` says. Each has `step_id` (empty until it started), `name` (of a second visit
  `writer (2)`), `step_kind`, `parent` (index or None), `visit_of` (index of the first visit of the same step, or
  None), `began` (its place among those that had their turn, None before it has it), `status` (`taken over` when the
  run this one goes on from got it done), `agent`, `model`, `attempt`, `turn`,
  `started_at`, `duration_s`, `verdict`, `note`, `output` (typed, as JSON) with `output_cut`, `reason`, `context`
  (`used`, `total`, `compact_at`, or None), `context_warning`, the same three totals as the run (what its sub-agents
  used included), `tool_calls` and `questions` (counts), and `items`.

An item has a `kind`: `text` and `thinking` (`text`, `cut`), `message` (`role`, `text`, `cut`), `tool` (`tool`,
`summary`, `args`, `result`, `facts`, `status`, `inside`), `sub_agent`, `question` (`id`, `text`, `options`,
`default`, `status`, `answer`, `by` and more), `note` (`tone`, `text`), `output` (`exit_code`, `stdout`, `stderr`,
`facts`) and `artifact` (`verb`, `what`, `facts`). Every `cut` counts the characters left out. A `sub_agent` is a
conversation `inside` the call it answers: it has the fields of a step, `items` among them, but instead of a gauge
and totals `usage` (in words) and `asked_by`. All text in a state is visible: see `visible`.
"""

import copy
import threading
from typing import Any, NamedTuple

from ..events import (
    Artifact,
    Compaction,
    CompactionBudget,
    ContextTruncated,
    ContextUsage,
    Event,
    Failover,
    LoopWarning,
    MessageAdded,
    Note,
    Nudge,
    Output,
    Question,
    Request,
    Retry,
    RunFinished,
    RunLeft,
    RunResumed,
    RunStarted,
    StepFinished,
    StepSkipped,
    StepStarted,
    StepTakenOver,
    TextChunk,
    TextDelta,
    ThinkingDelta,
    Tool,
    TurnFinished,
    TurnStarted,
)
from ..outcome import Outcome
from ..visible import one_line, visible
from .bill import Bill
from .document import Document, Patch, Path
from .endings import ended_words, shown_output, shown_reason
from .incidents import truncation_incident
from .node import NAME_CHARACTERS, Node, blank_conversation
from .rows import Begun, Rows, numbered
from .transcript import Transcript


class Snapshot(NamedTuple):
    """A whole state, and the changes that lead to it from the last time changes were taken."""

    patches: list[Patch]
    state: dict[str, Any]


class Fold:
    """Takes events in order, from any thread, and keeps the state and what changed in it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._document = Document(
            {
                "run_id": "",
                "pipeline": "",
                "job": "",
                "status": "starting",
                "outcome": None,
                "error": None,
                "forked_to": None,
                "started_at": None,
                "duration_s": None,
                **Bill().figures(),
                "steps": [],
            }
        )
        self._bill = Bill()
        self._waiting: set[Node] = set()
        self._rows = Rows(self._document)
        self._nested: list[Node] = []
        self._by_id: dict[str, Node] = {}

    @property
    def state(self) -> dict[str, Any]:
        """The state now; a copy of the caller's own."""
        with self._lock:
            return copy.deepcopy(self._document.value)

    @property
    def statuses(self) -> dict[str, str]:
        """How each step stands, by its name; of several with one name the last."""
        with self._lock:
            return {step["name"]: step["status"] for step in self._document.value["steps"]}

    def take_patches(self) -> list[Patch]:
        """Return what changed since the last take, for `apply_patches` and its twin in the front end."""
        with self._lock:
            return self._document.take_patches()

    def take_snapshot(self) -> Snapshot:
        """Take what changed together with the state it leads to, so that nothing is counted twice."""
        with self._lock:
            return Snapshot(self._document.take_patches(), copy.deepcopy(self._document.value))

    def original_answer(self, question_id: str, shown: str) -> str:
        """Return the option that the state shows as `shown`, exactly as it was offered; else `shown` itself."""
        with self._lock:
            for step in (*self._rows.nodes, *self._nested):
                if (option := step.transcript.questions.original_option(question_id, shown)) is not None:
                    return option
        return shown

    def apply(self, event: Event) -> None:
        """Take one event; kinds that no view draws change nothing."""
        with self._lock:
            if event.run_id:
                self._set((), run_id=one_line(event.run_id, NAME_CHARACTERS))
            match event:
                case RunStarted():
                    self._start_run(event)
                case RunResumed():
                    self._resume_run()
                case RunLeft():
                    self._leave_run(event)
                case RunFinished():
                    self._finish_run(event)
                case StepStarted():
                    self._start_step(event)
                case StepSkipped():
                    self._skip_step(event)
                case StepTakenOver():
                    self._take_over_step(event)
                case StepFinished():
                    self._finish_step(event)
                case Request():
                    self._add_request(event)
                case Artifact() if not event.step_id:
                    pass  # handed in with the run; its files are the caller's own
                case _:
                    self._add_to_transcript(event, self._step_of(event))
            self._set((), status=self._status())

    def _status(self) -> str:
        state = self._document.value
        if state["outcome"] or state["forked_to"]:
            return str(state["outcome"] or f"left for run {state['forked_to']}")
        if self._waiting:
            return "waiting for you"
        return "running" if self._rows.nodes else "starting"

    def _add_to_transcript(self, event: Event, step: Node) -> None:
        transcript = step.transcript
        match event:
            case TurnStarted():
                self._set(step.path, turn=event.turn, model=visible(event.model) or None)
                transcript.replies.start_turn(event.turn)
            case TextDelta() | ThinkingDelta():
                transcript.replies.add_delta(event)
            case TextChunk():
                transcript.replies.add_chunk(event)
            case TurnFinished():
                transcript.finish_turn(event)
            case MessageAdded():
                transcript.add_message(event)
            case Tool():
                transcript.add_tool(event)
                self._set(step.path, tool_calls=transcript.tool_calls)
            case Question():
                transcript.questions.add(event)
                self._set(step.path, questions=transcript.questions.count)
                self._mark_waiting(step)
            case Nudge() | Retry() | LoopWarning() | Failover():
                transcript.add_incident(event)
            case Note():
                transcript.add_note(event)
            case Output():
                transcript.add_output(event)
            case Artifact():
                fetched = self._document.get(step.path)["step_kind"] == "get"
                transcript.add_artifact(event, verb="Fetched" if fetched else "Wrote")
            case Compaction() | CompactionBudget() | ContextUsage() | ContextTruncated():
                self._measure_context(event, step)

    def _measure_context(
        self, event: Compaction | CompactionBudget | ContextUsage | ContextTruncated, step: Node
    ) -> None:
        """Move a step's gauge, and say what became of its conversation; a sub-agent has words instead of a gauge."""
        match event:
            case Compaction():
                step.transcript.add_compaction(event)
                if event.after is not None:
                    self._set_context(step, used=event.after)
            case CompactionBudget():
                step.compact_at = event.compact_at
                self._set_context(step, compact_at=event.compact_at)
            case ContextUsage():
                compact_at = step.compact_at if event.compact_at is None else event.compact_at
                if step.parent is None:
                    context = {"used": event.used, "total": event.total, "compact_at": compact_at}
                    self._set(step.path, context=context)
                else:
                    step.use_context(event)
                    self._set(step.path, usage=step.usage())
            case ContextTruncated():
                step.transcript.add_incident(event)
                if step.parent is None:
                    self._set(step.path, context_warning=truncation_incident(event).text)

    def _set_context(self, step: Node, **fields: Any) -> None:
        """Change the gauge of a step that has one already."""
        if step.parent is None and (context := self._document.get(step.path)["context"]) is not None:
            self._set(step.path, context={**context, **fields})

    # The run

    def _start_run(self, event: RunStarted) -> None:
        self._set(
            (),
            pipeline=one_line(event.pipeline, NAME_CHARACTERS),
            job=one_line(event.job, NAME_CHARACTERS),
            started_at=event.at,
        )
        if not self._rows.nodes:
            self._rows.draw(event.plan)

    def _resume_run(self) -> None:
        for step in self._rows.nodes:  # a process that was killed has not said how they ended
            self._cut_off(step)
        self._rows.go_on()
        self._set((), outcome=None, error=None, forked_to=None, duration_s=None)

    def _leave_run(self, event: RunLeft) -> None:
        self._set((), forked_to=one_line(event.forked_to, NAME_CHARACTERS), duration_s=event.duration_s)

    def _finish_run(self, event: RunFinished) -> None:
        if "" in self._by_id:  # what was said about the run as a whole has a row; it ends as the run does
            self._set(self._by_id[""].path, status=event.outcome)
        for step in self._rows.nodes:
            self._cut_off(step)
        self._set((), outcome=event.outcome, error=shown_reason(event.error), duration_s=event.duration_s)

    def _add_request(self, event: Request) -> None:
        step = self._step_of(event)
        step.transcript.add_request(event)
        for node in step.lineage:
            node.bill.add(event)
            if node.parent is None:
                self._set(node.path, **node.bill.figures())
            else:
                self._set(node.path, usage=node.usage())
        self._bill.add(event)
        self._set((), **self._bill.figures())

    # Its steps

    def _start_step(self, event: StepStarted) -> None:
        step = self._place(event)
        self._set(
            step.path,
            step_id=event.step_id,
            name=numbered(event.name, step.visit),
            status="running",
            agent=event.agent and one_line(event.agent, NAME_CHARACTERS),
            model=event.model and one_line(event.model, NAME_CHARACTERS),
            attempt=event.attempt,
            started_at=event.at,
            duration_s=None,
            verdict=None,
            note=None,
            reason=None,
        )
        if event.attempt > 1:
            step.transcript.note(f"attempt {event.attempt}", tone="mended")

    def _skip_step(self, event: StepSkipped) -> None:
        outcome = Outcome.REUSED if event.reused else Outcome.SKIPPED
        self._set(self._place(event).path, status=outcome.value, reason=shown_reason(event.reason) or None)

    def _take_over_step(self, event: StepTakenOver) -> None:
        step = self._place(event)
        how = "" if event.outcome == Outcome.SUCCEEDED else f", where it {ended_words(event.outcome)}"
        why = f": {event.reason}" if how and event.reason else ""
        self._set(
            step.path,
            step_id=event.step_id,
            status="taken over",
            reason=shown_reason(f"taken over from run {event.from_run}{how}{why}"),
            verdict=event.verdict and one_line(event.verdict, NAME_CHARACTERS),
            note=shown_reason(event.note),
            **shown_output(event.output),
        )
        if event.artifacts:
            step.transcript.note(f"left {', '.join(event.artifacts)}", tone="info")

    def _finish_step(self, event: StepFinished) -> None:
        step = self._place(event)
        self._close(step)
        if event.wrapped_up:
            step.transcript.note("out of turns: this is the last answer, given without tools", tone="mended")
        if event.fallback_model:
            step.transcript.note(f"went on with {event.fallback_model}", tone="mended")
        self._set(
            step.path,
            status=event.outcome,
            reason=shown_reason(event.reason),
            duration_s=event.duration_s,
            verdict=event.verdict and one_line(event.verdict, NAME_CHARACTERS),
            note=shown_reason(event.note),
            **shown_output(event.output),
        )

    def _mark_waiting(self, step: Node) -> None:
        (self._waiting.add if step.transcript.questions.is_waiting else self._waiting.discard)(step)
        for shown in step.lineage:
            if self._document.get(shown.path)["status"] in ("running", "waiting"):
                is_waiting = any(shown in node.lineage for node in self._waiting)
                self._set(shown.path, status="waiting" if is_waiting else "running")

    def _close(self, step: Node) -> None:
        """Settle what is open in a step that ends, and cut off the conversations inside it that have not ended."""
        step.transcript.close()
        for node in self._nested:
            if node is not step and step in node.lineage:
                self._cut_off(node)
        self._waiting.discard(step)

    def _cut_off(self, step: Node) -> None:
        if self._document.get(step.path)["status"] in ("running", "waiting"):
            self._close(step)
            self._set(step.path, status=Outcome.ABORTED.value)

    def _step_of(self, event: Event) -> Node:
        """Find the step an event belongs to; a view that joined late has not seen it start."""
        step = self._by_id.get(event.step_id)
        if step is None:
            step = self._add_unseen(event.step_id or "run", "")
            self._by_id[event.step_id] = step
            self._set(step.path, step_id=event.step_id, status="running")
        return step

    def _add_unseen(self, name: str, step_kind: str) -> Node:
        step = self._rows.push(name, step_kind, None)
        self._rows.begin(step)
        return step

    def _place(self, event: Begun | StepFinished) -> Node:
        """Find the row of a step: its own, else the one the plan keeps for it, else a new one."""
        step = self._by_id.get(event.step_id) if event.step_id else None
        if step is None:
            if isinstance(event, StepFinished):
                step = self._add_unseen(event.name, event.step_kind)
            elif isinstance(event, StepStarted) and event.parent_id and event.step_kind == "sub_agent":
                step = self._push_conversation(event)
            else:
                around = self._by_id.get(event.parent_id) if event.parent_id else None
                step = self._rows.place(event, None if around is None else self._rows.index(around.lineage[-1]))
            self._by_id[event.step_id] = step
        return step

    def _push_conversation(self, event: StepStarted) -> Node:
        """Put a sub-agent's conversation into the call it answers."""
        parent = self._by_id.get(event.parent_id or "")
        if parent is None:  # a view that joined late has not seen it start
            parent = self._step_of(Event(step_id=event.parent_id or ""))
        host = parent.host()
        blank = blank_conversation(event.name, self._document.get(parent.path)["name"])
        path = host.transcript.place_conversation(event.call_id, **blank)
        self._nested.append(Node(path, Transcript(host.transcript.writer_of(path)), host))
        return self._nested[-1]

    def _set(self, path: Path, **fields: Any) -> None:
        for name, value in fields.items():
            self._document.set((*path, name), value)
