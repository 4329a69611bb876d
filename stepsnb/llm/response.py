"""A response on its way, whoever reads it: what is known of it at its start, and its bytes."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Chunks = TypeVar("Chunks")


@dataclass(frozen=True, slots=True)
class Response(Generic[Chunks]):
    """A response whose body arrives as `chunks`; `http_response` is httpx' own, if there is one."""

    status: int
    content_type: str
    chunks: Chunks
    http_response: Any = None
