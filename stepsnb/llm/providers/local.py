"""A small model that stepsnb fetches and serves itself; it calls tools through constrained replies only."""

from .base import Provider

LOCAL = Provider(
    name="local",
    tool_mode="json",
    default_max_tokens=600,
    is_free=True,
    advice="its server ended; run the step again to start it",
)
