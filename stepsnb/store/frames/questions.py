"""The table of questions."""

from typing import TYPE_CHECKING, Final

from ...events import Question, decode_event
from ..session import Store
from .frame import Dtype, read_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "id": Dtype.TEXT,
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "agent": Dtype.TEXT,
    "question": Dtype.TEXT,
    "options": Dtype.LIST,
    "options_required": Dtype.FLAG,
    "default": Dtype.TEXT,
    "asked_at": Dtype.TIME,
    "expires_at": Dtype.TIME,
    "answered_at": Dtype.TIME,
    "answer": Dtype.TEXT,
    "source": Dtype.TEXT,
    "answered_by": Dtype.TEXT,
}


def questions_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row for each thing a person was asked, oldest first; every run when `run_id` is None.

    Columns: id, run_id, step_id, agent, question; options (a list of texts), options_required (bool: the answer had
        to be one of them), default; asked_at, expires_at, answered_at (UTC); answer, source (`given`, `widget`,
        `prompt`, `agent`, `mailbox` or `default`) and answered_by, all missing while nobody has answered.
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        return read_frame(db, "questions", COLUMNS, order="asked_at, run_id, seq", run_id=run_id)


def approvals_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row for each approval that was asked for, oldest first; columns and errors as `questions_df`."""
    with store.session() as db:
        return read_frame(db, "approvals", COLUMNS, order="asked_at, run_id, id", run_id=run_id)


def find_question(store: Store, question_id: str) -> Question | None:
    """Return how a question stands by its last event; None when there is none of that id. Raises: StoreError."""
    query = "SELECT payload FROM events WHERE kind = 'question' AND payload ->> 'question_id' = $id ORDER BY seq DESC"
    with store.session() as db:
        found = db.execute(query, {"id": question_id}).fetchone()
    if found is None:
        return None
    event = decode_event(found[0])
    return event if isinstance(event, Question) else None
