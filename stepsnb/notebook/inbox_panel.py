"""Open questions and approvals of all runs of a store, to be answered below a cell."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .panel import PanelHost

if TYPE_CHECKING:
    import pandas as pd

_TEXT_CHARACTERS = 4_000
_LINE_CHARACTERS = 200
_QUESTIONS = 100


class InboxPanel:
    """Shows what waits for a person, and posts the answers as `%steps answer` does."""

    def __init__(self, store: str | None) -> None:
        self._store = store
        self._offered: dict[str, list[str]] = {}
        self._approvals: set[str] = set()
        self._host = PanelHost(self.act, self._state())

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits for an answer."""
        return not self._offered

    def open(self) -> None:
        """Offer it to the front end, on the cell's thread."""
        self._host.open()

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asks for. Raises: StepsError with what is wrong."""
        from ..api import answer

        match message:
            case {"t": "refresh"}:
                self._host.show(self._state())
            case {"t": "answer", "id": str(question_id), **given}:
                try:
                    answered = answer(question_id, self._answer_of(question_id, given), store=self._store)
                finally:
                    self._host.show(self._state())
                self._host.say(f"answered: {answered}")

    def _answer_of(self, question_id: str, given: Mapping[str, Any]) -> str:
        """Return the text of an answer: an option as it was offered, an approval's with its reason."""
        text, offered = str(given.get("text", "")).strip(), self._offered.get(question_id, [])
        index = given.get("option")
        if not isinstance(index, int) or not 0 <= index < len(offered):
            return text
        return f"{offered[index]}: {text}" if question_id in self._approvals and text else offered[index]

    def _state(self) -> dict[str, Any]:
        from ..api import approvals, questions, runs

        all_runs = runs(store=self._store)
        going = frozenset(all_runs.loc[all_runs["outcome"].isna(), "run_id"])
        rows = _waiting(questions(store=self._store), going)[:_QUESTIONS]
        self._approvals = set(approvals(store=self._store)["id"])
        self._offered = {str(row["id"]): [str(option) for option in row["options"]] for row in rows}
        return {"kind": "inbox", "questions": [self._drawn(row) for row in rows]}

    def _drawn(self, row: Mapping[str, Any]) -> dict[str, Any]:
        from ..visible import one_line, visible

        is_approval = str(row["id"]) in self._approvals
        facts = [f"run {row['run_id']}"]
        if isinstance(row["default"], str):
            facts.append(f"default {row['default']}")
        return {
            "id": str(row["id"]),
            "asked_by": "To approve:" if is_approval else one_line(f"{row['agent']}:", _LINE_CHARACTERS),
            "text": visible(str(row["question"]))[:_TEXT_CHARACTERS],
            "options": [one_line(str(option), _LINE_CHARACTERS) for option in row["options"]],
            "takes_text": is_approval or not row["options_required"] or not row["options"],
            "is_approval": is_approval,
            "facts": one_line(" · ".join(facts), _LINE_CHARACTERS),
        }


def _waiting(frame: "pd.DataFrame", going: frozenset[str]) -> list[dict[str, Any]]:
    """Return the rows that a run still waits for an answer to."""
    import pandas as pd

    now = pd.Timestamp.now(tz="UTC")
    is_open = frame["answered_at"].isna() & ~(frame["expires_at"] < now) & frame["run_id"].isin(list(going))
    return [{str(name): value for name, value in row.items()} for row in frame[is_open].to_dict("records")]
