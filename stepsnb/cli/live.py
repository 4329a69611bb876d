"""A run as readable lines while it goes on; called with each event on the engine's thread."""

import contextlib
from decimal import Decimal
from typing import TextIO

from .. import events
from ..usage import Usage
from ..view.incidents import (
    Incident,
    compaction_incident,
    loop_incident,
    nudge_incident,
    reply_incidents,
    retry_incident,
    truncation_incident,
)
from ..visible import one_line
from .output import OutputError, say, share

_LINE = 160
_INDENT = "    "
_TONES = {"mended": "↺ ", "problem": "! "}
_MARKS = {"succeeded": "✓", "failed": "✗", "errored": "✗", "aborted": "■"}


class LiveText:
    """Prints what happens: steps, messages, tool calls on one line each, texts, questions; sub-agents indented."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._arguments: dict[str, str] = {}
        self._truncated: set[str] = set()
        self._depths: dict[str, int] = {}
        self._indent = ""

    def __call__(self, event: events.Event) -> None:
        """Print the lines `event` is worth, if any."""
        if isinstance(event, events.StepStarted) and event.step_kind == "sub_agent":
            self._depths[event.step_id] = self._depths.get(event.parent_id or "", 0) + 1
        self._indent = _INDENT * self._depths.get(event.step_id, 0)
        match event:
            case events.RunStarted():
                self._say(f"job `{event.job}`, run {event.run_id}")
            case events.RunResumed():
                self._say(f"job `{event.job}`, run {event.run_id} goes on")
            case events.StepStarted():
                who = f" (agent {event.agent}, {event.model})" if event.agent else ""
                self._say(f"▶ {event.step_kind} `{event.name}`{who}")
            case events.MessageAdded(role="user"):
                self._line(f"> {event.text}")
            case events.Tool():
                self._tool(event)
            case events.TurnFinished():
                self._turn(event)
            case events.Output():
                self._output(event)
            case events.Question():
                self._question(event)
            case events.Nudge():
                self._incident(nudge_incident(event))
            case events.Retry():
                self._incident(retry_incident(event))
            case events.Compaction():
                self._incident(compaction_incident(event))
            case events.LoopWarning():
                self._incident(loop_incident(event))
            case events.ContextTruncated():
                self._incident(truncation_incident(event))
            case events.Note():
                self._line(event.text)
            case events.Request() if event.error:
                self._line(f"request failed: {event.error}")
            case events.Artifact():
                self._line(f"artifact `{event.name}`: {', '.join(event.files) or 'no files'}")
            case events.StepSkipped():
                how = "reused" if event.reused else "skipped"
                self._say(f"· {event.step_kind} `{event.name}` {how}: {event.reason}")
            case events.StepTakenOver():
                verdict = f", verdict: {event.verdict}" if event.verdict else ""
                self._say(f"· {event.step_kind} `{event.name}` taken over from run {event.from_run}{verdict}")
            case events.StepFinished():
                self._step_finished(event)

    def _say(self, text: str) -> None:
        with contextlib.suppress(BrokenPipeError, OutputError):  # nobody reads any more; the run goes on
            say(self._indent + text, file=self._out)

    def _incident(self, incident: Incident) -> None:
        self._line(f"{_TONES.get(incident.tone, '')}{incident.text}")

    def _line(self, text: str) -> None:
        self._say("    " + one_line(text, _LINE))

    def _block(self, text: str) -> None:
        for line in text.strip("\n").splitlines():
            self._say("    " + line)

    def _tool(self, event: events.Tool) -> None:
        if event.phase == "start":
            self._arguments[event.call_id] = event.args
        elif event.phase == "end":
            arguments = event.args or self._arguments.pop(event.call_id, "")
            seconds = "" if event.duration_s is None else f", {event.duration_s:.1f} s"
            result = one_line(event.result, _LINE // 2)
            self._line(
                f"{event.tool} {one_line(arguments, _LINE // 2)}{seconds}{'' if event.ok else ', failed'}: {result}"
            )

    def _turn(self, event: events.TurnFinished) -> None:
        if event.text:
            self._block(event.text)
        if event.finish_reason == "length":
            self._truncated.add(event.step_id)
        for incident in reply_incidents(event):
            self._incident(incident)

    def _output(self, event: events.Output) -> None:
        for text, size in ((event.stdout, event.stdout_bytes), (event.stderr, event.stderr_bytes)):
            self._block(text)
            if (more := size - len(text.encode())) > 0:
                self._line(f"… {more:,} bytes more")

    def _question(self, event: events.Question) -> None:
        if event.phase == "asked":
            offered = f" [{' | '.join(event.options)}]" if event.options else ""
            self._line(f"? {event.text}{offered}")
        elif event.phase == "answered":
            self._line(f"→ {event.answer} ({event.source})")
        else:
            self._line("→ nobody answered")

    def _step_finished(self, event: events.StepFinished) -> None:
        cut = "  <-- truncated" if event.step_id in self._truncated else ""
        mark = _MARKS.get(event.outcome, "·")
        self._say(f"{mark} {event.step_kind} `{event.name}` {event.outcome}, {event.duration_s:.1f} s{cut}")
        if event.verdict:
            self._line(f"verdict: {event.verdict}{f' ({event.note})' if event.note else ''}")
        if event.output:
            self._line(f"output: {event.output}")
        if event.reason:
            self._block(event.reason)


def cost_line(cost_usd: Decimal | None, tokens: Usage) -> str:
    """Say what a job's agents cost: dollars or `unpriced`, and tokens with the share that was CACHED."""
    price = "unpriced" if cost_usd is None else f"${cost_usd:.4f}"
    cached = share(tokens.cached_input_tokens, tokens.prompt_tokens)
    return f"cost {price}: {tokens.prompt_tokens:,} tokens in ({cached} CACHED), {tokens.output_tokens:,} out"
