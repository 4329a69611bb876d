"""Keeps secrets out of a run's events, and with them out of the store, of views and of exports."""

from collections.abc import Sequence

import msgspec

from ..events import Event, TextDelta, encode_event

REDACTED = "[redacted]"

_OURS = frozenset({"kind", "run_id", "step_id", "parent_id", "step_kind", "phase", "role", "outcome", "call_id"})
"""Fields whose values are stepsnb's own words; a secret that happens to be one of them does not hide there."""


class Redaction:
    """Replaces each secret wherever a text of an event holds it."""

    def __init__(self, secrets: Sequence[str]) -> None:
        # The longest first: one secret may be a part of another.
        self._secrets = sorted((secret for secret in secrets if secret), key=len, reverse=True)
        self._encoded = [_json_bytes(secret) for secret in self._secrets]

    def clean(self, event: Event) -> tuple[Event, bytes]:
        """Return the event without secrets, and its encoding where that had to be made to look, else nothing."""
        if not self._secrets:
            return event, b""
        payload = encode_event(event)
        if not any(secret in payload for secret in self._encoded):
            return event, payload
        return msgspec.convert(self._replace(msgspec.to_builtins(event)), type(event)), b""

    def _replace(self, value: object) -> object:
        match value:
            case str():
                for secret in self._secrets:
                    value = value.replace(secret, REDACTED)
                return value
            case list():
                return [self._replace(each) for each in value]
            case dict():
                return {key: each if key in _OURS else self._replace(each) for key, each in value.items()}
        return value


def _json_bytes(secret: str) -> bytes:
    return encode_event(TextDelta(delta=secret)).split(b'"delta":"', 1)[1].rsplit(b'"', 1)[0]
