"""What a server's tool gives back, as a result for the model."""

from typing import TYPE_CHECKING, Any

from ..tools import ToolResult
from ..tools.base import to_json

if TYPE_CHECKING:
    from mcp_types import CallToolResult


def to_result(called: "CallToolResult") -> ToolResult:
    """Return what a result says; a failure is `{error}`."""
    text, structured = text_of(called), called.structured_content
    if called.is_error:
        return ToolResult.error(text)
    return ToolResult(text, data=structured if isinstance(structured, dict) else None)


def text_of(called: "CallToolResult") -> str:
    """Return the texts of a result, or its structured content where it has none; of a failure it is never empty."""
    parts = [text for block in called.content if (text := _text(block))]
    structured = called.structured_content
    text = "\n".join(parts) or ("" if structured is None else to_json(structured))
    return text or ("the tool failed and did not say why" if called.is_error else "")


def _text(block: Any) -> str:
    """Say what a block of content holds; what is no text is named, with its size."""
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type} {block.mime_type}, {len(block.data) * 3 // 4:,} bytes, not shown]"
        case "resource_link":
            return f"[resource {block.uri}]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return str(text) if text is not None else f"[resource {block.resource.uri}, binary, not shown]"
    return f"[{block.type}, not shown]"
