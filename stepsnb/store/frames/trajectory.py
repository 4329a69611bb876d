"""The table of what the agents of a run did: their tool calls, and nothing of what was said."""

import json
from typing import TYPE_CHECKING, Final

from ...messages import cut_utf8
from ...settings import TRAJECTORY_ARGUMENT_BYTES
from ..session import Store
from .frame import Dtype, read_frame
from .nesting import nest

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "parent_id": Dtype.TEXT,
    "parent_call_id": Dtype.TEXT,
    "depth": Dtype.COUNT,
    "step": Dtype.TEXT,
    "agent": Dtype.TEXT,
    "turn": Dtype.COUNT,
    "call_id": Dtype.TEXT,
    "tool": Dtype.TEXT,
    "args": Dtype.TEXT,
    "ok": Dtype.MAYBE,
    "repaired": Dtype.FLAG,
    "promoted": Dtype.FLAG,
    "code": Dtype.TEXT,
    "duration_s": Dtype.NUMBER,
}

_ORDER: Final = "coalesce(reply_seq, seq), call_number, seq"


def trajectory_df(store: Store, run_id: str) -> "pd.DataFrame":
    """One row a tool call of the run, in the order in which the models made them.

    The calls of a sub-agent follow the call it answers. Calls that were put into an opening request are not among
    them: no model made those.

    Columns: run_id, step_id; parent_id and parent_call_id (a sub-agent's: the step and the call it answers), depth
        (int64: 0 for a step of the plan); step (its name), agent, turn (int64), call_id, tool; args (JSON, each
        argument cut to 2,048 bytes); ok (boolean, missing for a call that has not ended), repaired and promoted
        (bool, how the call was mended), code (of a call that failed), duration_s (float64, seconds).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    import pandas as pd

    with store.session() as db:
        frame = read_frame(db, "trajectory", COLUMNS, order=_ORDER, run_id=run_id)
    frame["args"] = pd.Series([cut_arguments(args) for args in frame["args"]], dtype=frame["args"].dtype)
    return nest(frame, before_call=False)


def cut_arguments(arguments: str) -> str:
    """Return a call's JSON with each argument at most `TRAJECTORY_ARGUMENT_BYTES` long.

    A longer text is cut; any other value that is longer becomes its JSON text, cut. What is no object is cut whole.
    """
    if len(arguments) * 4 <= TRAJECTORY_ARGUMENT_BYTES:
        return arguments
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        return cut_utf8(arguments, TRAJECTORY_ARGUMENT_BYTES)
    kept = {key: _cut_value(value) for key, value in parsed.items()}
    return arguments if kept == parsed else json.dumps(kept, ensure_ascii=False)


def _cut_value(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    kept = cut_utf8(text, TRAJECTORY_ARGUMENT_BYTES)
    return value if kept == text else kept
