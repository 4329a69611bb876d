"""The entries of one step's transcript: each event that says something becomes an entry or changes one.

Foreign text is made visible and cut here, so that no renderer has to know where a text came from.
"""

import re
from typing import Any

from ..events import (
    Artifact,
    Compaction,
    ContextTruncated,
    Failover,
    LoopWarning,
    MessageAdded,
    Note,
    Nudge,
    Output,
    Request,
    Retry,
    Tool,
    TurnFinished,
)
from ..settings import VIEW_ARGUMENT_CHARACTERS, VIEW_RESULT_CHARACTERS, VIEW_TEXT_CHARACTERS
from ..visible import one_line
from .document import Path
from .incidents import (
    Incident,
    compaction_incident,
    failover_incident,
    loop_incident,
    nudge_incident,
    retry_incident,
    truncation_incident,
)
from .questions import Questions
from .replies import Replies
from .words import argument_summary, count_words, duration_words, pretty_arguments, size_words
from .writer import Writer

_PROGRESS_CHARACTERS = 120
_NOTE_CHARACTERS = 2_000
_NAME_CHARACTERS = 200


class Transcript:
    """Writes the entries of one step."""

    def __init__(self, writer: Writer) -> None:
        self.replies = Replies(writer)
        self.tool_calls = 0
        self.questions = Questions(writer)
        self._writer = writer
        self._running: dict[str, Path | None] = {}
        self._told = ""
        self._given: set[str] = set()
        self._marks: dict[str, list[str]] = {}
        self._compacting: Path | None = None
        self._progress: tuple[str, Path | None] | None = None

    def note(self, text: str, *, tone: str) -> Path | None:
        """Add a line about what went wrong (`problem`), was `mended`, or is just worth saying (`info`)."""
        kept, _ = self._writer.clip(text, _NOTE_CHARACTERS)
        return self._writer.push("note", tone=tone, text=kept)

    def add_note(self, event: Note) -> None:
        """Add a line, or replace the one before when only its figures moved on."""
        start = re.split(r"\d", event.text, maxsplit=1)[0]
        if start and self._progress is not None and self._progress[0] == start:
            self._writer.set(self._progress[1], text=self._writer.clip(event.text, _NOTE_CHARACTERS)[0])
        else:
            self._progress = (start, self.note(event.text, tone="info"))

    def add_incident(self, event: Retry | Nudge | LoopWarning | ContextTruncated | Failover) -> None:
        """Say what went wrong; the message that tells the model, which follows, is not shown again."""
        match event:
            case Retry():
                self._say(retry_incident(event))
            case Nudge():
                self._told = event.text
                self._say(nudge_incident(event))
            case LoopWarning():
                self._told = event.text
                self._say(loop_incident(event))
            case ContextTruncated():
                self._say(truncation_incident(event))
            case Failover():
                self._say(failover_incident(event))

    def add_compaction(self, event: Compaction) -> None:
        """Say that the conversation is being summarised; at the end what came of it, in the same place."""
        incident = compaction_incident(event)
        if event.phase == "start" or self._compacting is None:
            self._compacting = self._say(incident)
        else:
            text, _ = self._writer.clip(incident.text, _NOTE_CHARACTERS)
            self._writer.set(self._compacting, tone=incident.tone, text=text)
        if event.phase == "end":
            self._compacting = None
            if event.summary:
                self._told = event.summary
                self._message("summary", event.summary)

    def _say(self, incident: Incident) -> Path | None:
        return self.note(incident.text, tone=incident.tone)

    def finish_turn(self, event: TurnFinished) -> None:
        """Add a whole reply, or learn which of the calls that follow no model made."""
        if event.synthetic:
            self._given.update(call.id for call in event.tool_calls)
        else:
            self.replies.finish_turn(event)

    def add_message(self, event: MessageAdded) -> None:
        """Add what the model was told."""
        if not event.synthetic:
            self._message(event.role, "\n".join([event.text, *(f"[image {image}]" for image in event.images)]))
        elif event.text != self._told:
            self.note(f"told: {event.text}", tone="info")

    def _message(self, role: str, said: str) -> None:
        text, cut = self._writer.clip(said, VIEW_TEXT_CHARACTERS)
        self._writer.push("message", role=role, text=text, cut=cut)

    def add_request(self, event: Request) -> None:
        """Say that a request failed; one that succeeded shows as its reply."""
        if event.error is not None:
            status = f" ({event.status})" if event.status else ""
            self.note(f"request failed{status}: {event.error}", tone="problem")

    def add_tool(self, event: Tool) -> None:
        """Add a tool call when it starts, its progress, and its result when it ends."""
        if event.call_id not in self._running:
            self._start_call(event)
        match event.phase:
            case "start":
                return
            case "update":
                facts = one_line(event.result, _PROGRESS_CHARACTERS)
                self._writer.set(self._running[event.call_id], facts=facts)
            case "end":
                path = self._running.pop(event.call_id)
                marks = self._marks.pop(event.call_id, _marks(event))
                result, cut = self._writer.clip(event.result, VIEW_RESULT_CHARACTERS)
                status = "done" if event.ok else "failed"
                self._writer.set(path, status=status, facts=_facts(event, marks), result=result, result_cut=cut)

    def place_conversation(self, call_id: str | None, **fields: Any) -> Path:
        """Add a sub-agent's conversation to the call it answers, or to this one where that is not to be seen."""
        path = self._running.get(call_id or "")
        place = self._writer if path is None else self._writer.below(path, "inside")
        added = place.push("sub_agent", needed=True, **fields)
        assert added is not None, "what is needed is always added"
        return added

    def writer_of(self, conversation: Path) -> Writer:
        """Return the writer of the conversation at that place."""
        return self._writer.below(conversation, "items")

    def _start_call(self, event: Tool) -> None:
        is_given = event.call_id in self._given
        self._given.discard(event.call_id)
        self.tool_calls += not is_given
        self._marks[event.call_id] = ["read beforehand"] if is_given else _marks(event)
        args, cut = self._writer.clip(pretty_arguments(event.args), VIEW_ARGUMENT_CHARACTERS)
        self._running[event.call_id] = self._writer.push(
            "tool",
            tool=one_line(event.tool, _NAME_CHARACTERS),
            summary=argument_summary(event.args),
            args=args,
            args_cut=cut,
            result="",
            result_cut=0,
            facts="",
            status="running",
            inside=[],
        )
        if event.repaired:
            self.note(f"the provider sent broken arguments for `{event.tool}`; repaired", tone="mended")
        if event.promoted:
            self.note(f"a call of `{event.tool}` came as plain text; taken as the call it is", tone="mended")

    def add_output(self, event: Output) -> None:
        """Add what a command printed."""
        stdout, stdout_cut = self._writer.clip(event.stdout, VIEW_RESULT_CHARACTERS)
        stderr, stderr_cut = self._writer.clip(event.stderr, VIEW_RESULT_CHARACTERS)
        printed = size_words(event.stdout_bytes + event.stderr_bytes) if stdout or stderr else "printed nothing"
        kept = sum(len(text.encode("utf-8", "replace")) for text in (event.stdout, event.stderr))
        self._writer.push(
            "output",
            exit_code=event.exit_code,
            facts=printed if kept >= event.stdout_bytes + event.stderr_bytes else f"{printed}, cut",
            stdout=stdout,
            stdout_cut=stdout_cut,
            stderr=stderr,
            stderr_cut=stderr_cut,
        )

    def add_artifact(self, event: Artifact, *, verb: str) -> None:
        """Say which files a step left behind."""
        if len(event.files) == 1:
            what, facts = f"{event.name}/{event.files[0]}", size_words(event.bytes)
        else:
            what, facts = f"{event.name}/", f"{count_words(len(event.files), 'file')}, {size_words(event.bytes)}"
        self._writer.push("artifact", verb=verb, what=one_line(what, _NAME_CHARACTERS), facts=facts)

    def close(self) -> None:
        """The step is over: what is still open will not be settled any more."""
        self.questions.close()
        for path in self._running.values():
            self._writer.set(path, status="failed", facts="cut off")
        self._running.clear()


def _marks(event: Tool) -> list[str]:
    return [name for name, holds in (("repaired", event.repaired), ("promoted", event.promoted)) if holds]


def _facts(event: Tool, marks: list[str]) -> str:
    """Say how large a result was, how long it took, and what happened to it on the way."""
    size = size_words(len(event.result.encode("utf-8", "replace")))
    facts = [f"{size}, cut" if event.truncated and not event.spilled_to else size]
    if event.spilled_to:
        facts = [f"whole result in {one_line(event.spilled_to, _NAME_CHARACTERS)}"]
    if event.duration_s is not None:
        facts.append(duration_words(event.duration_s))
    if event.denied_by:
        facts.append(f"denied by {one_line(event.denied_by, _NAME_CHARACTERS)}")
    elif event.code:
        facts.append(one_line(event.code, _NAME_CHARACTERS))
    return " · ".join([*facts, *marks])
