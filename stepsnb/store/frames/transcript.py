"""The table of what was said in a run."""

from typing import TYPE_CHECKING, Final

from ...messages import cut_utf8
from ...settings import TRANSCRIPT_RESULT_BYTES
from ..session import Store
from .frame import Dtype, read_frame
from .nesting import nest

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "step": Dtype.TEXT,
    "seq": Dtype.COUNT,
    "role": Dtype.TEXT,
    "turn": Dtype.WHOLE,
    "text": Dtype.TEXT,
    "thinking": Dtype.TEXT,
    "tool": Dtype.TEXT,
    "call_id": Dtype.TEXT,
    "args": Dtype.TEXT,
    "tool_calls": Dtype.TEXT,
    "ok": Dtype.MAYBE,
    "repaired": Dtype.FLAG,
    "truncated": Dtype.FLAG,
    "synthetic": Dtype.FLAG,
    "is_cut": Dtype.FLAG,
    "created_at": Dtype.TIME,
    "agent": Dtype.TEXT,
    "parent_id": Dtype.TEXT,
    "parent_call_id": Dtype.TEXT,
    "depth": Dtype.COUNT,
    "promoted": Dtype.FLAG,
    "marks": Dtype.LIST,
    "note": Dtype.TEXT,
    "text_bytes": Dtype.WHOLE,
}


def transcript_df(store: Store, run_id: str) -> "pd.DataFrame":
    """One row for each message of the run and each note about it, step after step, in the order in which they came.

    A sub-agent's conversation stands before the result of the call it answers. A run that failed, was stopped or was
    killed has what had been recorded of it.

    Columns: run_id, step_id, step (its name), seq (int64, place among the run's events); role (`system`, `user`,
        `assistant`, `tool` or `note`), turn (Int64, of replies and results); text (a result is cut to 4,096 bytes);
        thinking and tool_calls (JSON) of a reply; tool, call_id, args (JSON), ok (boolean), repaired and truncated
        of a result; synthetic (bool: stepsnb put it in, such as the files of `context_paths` read beforehand);
        is_cut (bool: all that came of a reply or call that never ended); created_at (UTC); agent; parent_id and
        parent_call_id (a sub-agent's: the step and the call it answers), depth (int64: 0 for a step of the plan);
        promoted (bool, of a call written as text); marks (a list: what was wrong with a reply); note (`retry`,
        `compaction`, `nudge`, `loop_warning` or `context_truncated`); text_bytes (Int64: of the text as it was
        recorded).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    import pandas as pd

    with store.session() as db:
        frame = read_frame(db, "transcript", COLUMNS, order="seq", run_id=run_id)
    kept = [
        cut_utf8(text, TRANSCRIPT_RESULT_BYTES) if role == "tool" and isinstance(text, str) else text
        for role, text in zip(frame["role"], frame["text"], strict=True)
    ]
    frame["text"] = pd.Series(kept, dtype=frame["text"].dtype)
    return nest(frame, before_call=True)
