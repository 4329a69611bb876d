"""The table of questions."""

from typing import TYPE_CHECKING, Final

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
