"""Keeps secrets out of a run's events, and with them out of the store, of views and of exports."""

from collections.abc import Callable, Sequence, Set

import msgspec

from ..events import Event, TextDelta, encode_event

REDACTED = "[redacted]"

_STRUCTURE = frozenset(
    {
        *("kind", "run_id", "step_id", "parent_id", "call_id", "question_id", "forked_from"),
        *("step_kind", "phase", "role", "outcome", "source", "price_source", "finish_reason"),
        *("pipeline", "job", "name", "agent", "model", "tool", "tools", "path", "digest", "files"),
    }
)
"""Fields that hold stepsnb's own words, and the names and paths by which a run's things are found again.

A secret that happens to be one of them does not hide there: `env: {OUT: summaries}` beside an output `summaries` would
otherwise take the artifact's name away. A file named after a secret lies on the disk under that name anyway.
"""


class Redaction:
    """Makes an event fit to be kept: replaces each secret wherever a text of it holds one."""

    def __init__(self, secrets: Sequence[str]) -> None:
        # The longest first: one secret may be a part of another.
        self._secrets = sorted((secret for secret in secrets if secret), key=len, reverse=True)
        self._encoded = [_json_bytes(secret) for secret in self._secrets]

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def clean(self, event: Event) -> tuple[Event, bytes]:
        """Return the event without secrets and as valid Unicode, and its encoding."""
        try:
            payload = encode_event(event)
        except UnicodeEncodeError:  # half of a surrogate pair, which the JSON of a model's tool call may hold
            event = _with_texts(event, lambda text: text.encode("utf-8", "backslashreplace").decode())
            payload = encode_event(event)
        if any(secret in payload for secret in self._encoded):
            event = _with_texts(event, self.hide, skip=_STRUCTURE)
            payload = encode_event(event)
        return event, payload

    def hide(self, text: str) -> str:
        """Replace every secret in a text."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def split(self, text: str) -> tuple[str, str]:
        """Divide streamed text, whole secrets hidden, into what may be shown and an end that may become a secret."""
        text = self.hide(text)
        longest = max((len(secret) for secret in self._secrets), default=1)
        for length in range(min(longest - 1, len(text)), 0, -1):
            if any(secret.startswith(text[-length:]) for secret in self._secrets):
                return text[:-length], text[-length:]
        return text, ""


def _with_texts(event: Event, change: Callable[[str], str], *, skip: Set[str] = frozenset()) -> Event:
    """Rebuild an event with every text in it changed, except in the fields to skip."""

    def rebuild(value: object) -> object:
        match value:
            case str():
                return change(value)
            case list():
                return [rebuild(each) for each in value]
            case dict():
                return {key: each if key in skip else rebuild(each) for key, each in value.items()}
        return value

    return msgspec.convert(rebuild(msgspec.to_builtins(event)), type(event))


def _json_bytes(secret: str) -> bytes:
    return encode_event(TextDelta(delta=secret)).split(b'"delta":"', 1)[1].rsplit(b'"', 1)[0]
