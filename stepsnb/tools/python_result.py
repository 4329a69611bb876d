"""Turns what a Python function returned into text for a model."""

from typing import Any

from pydantic_core import PydanticSerializationError
from pydantic_core import to_json as write_json

from ..settings import FRAME_COLUMNS, FRAME_ROWS, INLINE_OUTPUT_BYTES
from ..workspace import decode_text
from .base import ToolResult


def to_result(value: Any, *, max_bytes: int = INLINE_OUTPUT_BYTES) -> ToolResult:
    """Write text as it is, tables as bounded text, everything else as JSON; over `max_bytes` also with lines."""
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, str):
        return ToolResult(value)
    if isinstance(value, bytes | bytearray):
        decoded = decode_text(bytes(value))
        return ToolResult(f"{len(value):,} bytes that are not text" if decoded is None else decoded.text)
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_string"):
        return ToolResult(_table(value))
    try:
        text = _json(value)
    except (PydanticSerializationError, ValueError) as exc:
        return ToolResult.error(f"the function returned something that cannot be written as JSON: {exc}")
    long_text = _json(value, indent=1) if len(text.encode()) > max_bytes else None
    return ToolResult(text, data=value if isinstance(value, dict) else None, long_text=long_text)


def _json(value: Any, indent: int | None = None) -> str:
    return write_json(
        value, indent=indent, fallback=_plain, inf_nan_mode="constants", bytes_mode="base64", by_alias=True
    ).decode()


def _plain(value: Any) -> Any:
    """What to write for a type JSON has no word for: numpy's as lists and numbers, tables as text, others as `str`."""
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_string"):
        return _table(value)
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) and not isinstance(value, type) else str(value)


def _table(value: Any) -> str:
    size = " x ".join(map(str, value.shape))
    columns = {"max_cols": FRAME_COLUMNS} if len(value.shape) > 1 else {}
    text = value.to_string(max_rows=FRAME_ROWS, **columns)
    return f"{text}\n[{size} {'rows x columns' if columns else 'rows'}]"
