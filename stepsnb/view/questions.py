"""The questions of one conversation: each is one entry from the time it is asked until it is settled."""

from ..events import Question
from ..settings import VIEW_ARGUMENT_CHARACTERS
from ..visible import one_line, visible
from .document import Path
from .words import duration_words
from .writer import Writer

_NAME_CHARACTERS = 200
_OPTIONS_SHOWN = 50

_SOURCES = {
    "given": "given in advance",
    "widget": "by a person",
    "prompt": "by a person at the prompt",
    "mailbox": "by a person elsewhere",
    "agent": "by another agent",
    "default": "the default; nobody answered",
}


class Questions:
    """Writes the `question` entries of one conversation; `count` says how many there were."""

    def __init__(self, writer: Writer) -> None:
        self.count = 0
        self._writer = writer
        self._asked: dict[str, tuple[Path | None, float]] = {}
        self._options: dict[str, dict[str, str]] = {}
        self._open: set[str] = set()

    @property
    def is_waiting(self) -> bool:
        """Whether one of them waits for somebody."""
        return bool(self._open)

    def add(self, event: Question) -> None:
        """Add a question when it is asked; close it when it is answered or nobody did in time."""
        if event.question_id not in self._asked:
            self._ask(event)
        path, asked_at = self._asked[event.question_id]
        if event.phase == "asked":
            self._open.add(event.question_id)
            return
        self._open.discard(event.question_id)
        answer = None if event.answer is None else self._writer.clip(event.answer, VIEW_ARGUMENT_CHARACTERS)[0]
        self._writer.set(path, status=event.phase, answer=answer, by=_who_answered(event, asked_at))

    def _ask(self, event: Question) -> None:
        self.count += 1
        path = self._writer.push(
            "question",
            needed=True,
            id=event.question_id,
            agent=one_line(event.agent, _NAME_CHARACTERS),
            text=self._writer.clip(event.text, VIEW_ARGUMENT_CHARACTERS)[0],
            options=[one_line(option, _NAME_CHARACTERS) for option in event.options[:_OPTIONS_SHOWN]],
            options_required=event.options_required,
            takes_reason=event.takes_reason,
            default=None if event.default is None else one_line(event.default, _NAME_CHARACTERS),
            expires_at=event.expires_at,
            status="asked",
            answer=None,
            by="",
        )
        self._asked[event.question_id] = (path, event.at)
        self._options[event.question_id] = {one_line(option, _NAME_CHARACTERS): option for option in event.options}

    def original_option(self, question_id: str, shown: str) -> str | None:
        """Return the option that is shown as `shown`, None when it is no option of a question of these."""
        return self._options.get(question_id, {}).get(shown)

    def close(self) -> None:
        """The conversation is over: what is still open will not be settled any more."""
        for question_id in sorted(self._open):
            self._writer.set(self._asked[question_id][0], status="withdrawn")
        self._open.clear()


def _who_answered(event: Question, asked_at: float) -> str:
    if event.phase == "expired":
        return ""
    by = _SOURCES.get(event.source or "", visible(event.source or ""))
    if event.answered_by:
        by = f"by {one_line(event.answered_by, _NAME_CHARACTERS)}"
    waited_s = event.at - asked_at
    return f"{by}, after {duration_words(waited_s)}" if asked_at and waited_s >= 1 else by
