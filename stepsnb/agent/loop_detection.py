"""Notices a conversation that goes in circles: the same call, the same result, again and again."""

import hashlib
import json
from collections import Counter, deque
from collections.abc import Sequence
from enum import StrEnum

from ..messages import ToolCall
from ..settings import LOOP_REPEATS, LOOP_WINDOW


class Judgement(StrEnum):
    """What the calls of one turn mean: nothing, a loop to be warned of, or a loop that a warning did not end."""

    FINE = "fine"
    WARN = "warn"
    STUCK = "stuck"


class LoopDetector:
    """Counts, within the last `LOOP_WINDOW` turns with calls, those with the same tool, arguments and result.

    A result that differs is another interaction, so to read a file again after an edit, or to ask until something
    is ready, is none. The window goes on past a warning: one more repetition is the end.
    """

    def __init__(self) -> None:
        self._window: deque[list[bytes]] = deque()
        self._counts: Counter[bytes] = Counter()
        self._is_warned = False
        self.tool = ""
        """The tool of the last loop found."""
        self.count = 0
        """How often it was called with the same arguments and result in the window."""

    def judge(self, interactions: Sequence[tuple[ToolCall, str]]) -> Judgement:
        """Take the calls of one turn with their results, and judge the most frequent of them."""
        if not interactions:
            return Judgement.FINE
        keys = [_key(call, result) for call, result in interactions]
        self._window.append(keys)
        self._counts.update(keys)
        if len(self._window) > LOOP_WINDOW:
            self._counts -= Counter(self._window.popleft())
        count, tool = max(
            ((self._counts[key], call.name) for key, (call, _) in zip(keys, interactions, strict=True)),
            key=lambda found: found[0],
        )
        if count <= LOOP_REPEATS:
            return Judgement.FINE
        self.tool, self.count = tool, count
        if self._is_warned:
            return Judgement.STUCK
        self._is_warned = True
        return Judgement.WARN


def _key(call: ToolCall, result: str) -> bytes:
    """Return what identifies an interaction; results can be long, so only their hash is kept."""
    parts = [part.encode("utf-8", "surrogatepass") for part in (call.name, _same_form(call.arguments), result)]
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8))
        found.update(part)
    return found.digest()


def _same_form(arguments: str) -> str:
    """Write arguments in one way, whatever the order of their names and the space between them."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):  # no JSON, or nested beyond reason: then only the same text is the same
        return arguments
