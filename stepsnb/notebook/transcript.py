"""What `%steps transcript` shows: a stored conversation to read, with its table at hand."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Transcript:
    """The transcript of one run; `df()` is the table it is made of."""

    def __init__(self, run_id: str, frame: "pd.DataFrame") -> None:
        self.run_id = run_id
        self._frame = frame

    def df(self) -> "pd.DataFrame":
        """Return the table `stepsnb.transcript(run)`."""
        return self._frame

    def __repr__(self) -> str:
        from ..view import static_conversation_text

        return static_conversation_text(self._rows()) or f"run {self.run_id} has no conversation"

    def _repr_html_(self) -> str:
        from ..view import conversation_html

        return conversation_html(self._rows()) or f"<p>{self!r}</p>"

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self._frame.to_json(orient="records", date_format="iso"))
        return rows
