"""Puts the pieces of a reply together: text, thinking, tool calls, finish reason, usage."""

import time
import uuid
from collections.abc import Collection
from typing import NamedTuple

import msgspec

from ..messages import ToolCall
from ..usage import Usage
from .chunks import CallDelta, Chunk, ContentPart, Delta, read_usage
from .repair import is_object
from .request import Listener


class _OpenCall:
    """A tool call whose pieces are still arriving."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.signature: object = None
        self.is_text = True
        """Whether the arguments came as text, as they should."""

    def is_complete(self) -> bool:
        """Whether the arguments so far are a whole JSON object."""
        return is_object("".join(self.arguments))

    def to_call(self) -> ToolCall:
        """Return what has arrived; arguments that were no text are text now, which is a repair."""
        arguments = "".join(self.arguments)
        call = ToolCall(id=self.id, name=self.name, arguments=arguments, signature=self.signature)
        return call if self.is_text else msgspec.structs.replace(call, repaired=True, raw=arguments)


class Assembly:
    """One reply in the making.

    `tool_names` are the tools that were offered: a name that arrives in pieces is told from the name of a further
    call by them. `taken_ids` are the call ids the conversation has already; a repeated or missing id is replaced,
    since a result finds its call by it.
    """

    def __init__(
        self,
        listener: Listener | None = None,
        *,
        tool_names: Collection[str] = (),
        taken_ids: Collection[str] = (),
    ) -> None:
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        self.model = ""
        self.error: object = None
        self.has_replaced_ids = False
        """Whether a call came without an id, or with one that another call has."""
        self.first_output_at: float | None = None
        """When the first text, thinking or call arrived, on `time.perf_counter`."""
        self._listener = listener
        self._tool_names = tool_names
        self._taken_ids = taken_ids
        self._text: list[str] | None = None
        self._thinking: list[str] = []
        self._calls: list[_OpenCall] = []
        self._open: dict[int | None, _OpenCall] = {}  # whose piece one with this index and nothing else is

    @property
    def has_output(self) -> bool:
        """Whether any text, thinking or call has arrived."""
        return self.first_output_at is not None

    def _note_output(self) -> None:
        if self.first_output_at is None:
            self.first_output_at = time.perf_counter()

    @property
    def text(self) -> str | None:
        """The text so far; None when the provider sent none."""
        return None if self._text is None else "".join(self._text)

    @property
    def thinking(self) -> str:
        """The thinking so far."""
        return "".join(self._thinking)

    def add(self, chunk: Chunk) -> None:
        """Take one chunk of a stream, or a whole reply at once."""
        if chunk.error:  # some servers send an empty one with every chunk
            self.error = chunk.error
        if chunk.usage is not None:
            self._count(read_usage(chunk.usage))
        if chunk.model and not self.model:
            self.model = chunk.model
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        if choice.index:  # an alternative nobody asked for
            return
        if choice.finish_reason:
            self.finish_reason = choice.finish_reason
        if choice.delta is not None:
            self._add_delta(choice.delta, is_whole=False)
        elif choice.message is not None:
            self._add_delta(choice.message, is_whole=True)

    def _add_delta(self, delta: Delta, *, is_whole: bool) -> None:
        content = delta.content
        if content is None:
            content = delta.refusal
        if content is not None:
            self._add_text(content)
        thinking = delta.reasoning_content or delta.reasoning
        if thinking:
            self._note_output()
            self._thinking.append(thinking)
            if self._listener is not None:
                self._listener.thinking(thinking)
        if delta.tool_calls:
            touched: set[int | None] = set()
            for piece in delta.tool_calls:
                # Two named pieces of one list are two calls, whatever their indexes say.
                self._add_call(piece, is_new=is_whole or piece.index in touched)
                touched.add(piece.index)

    def _add_text(self, content: str | list[ContentPart]) -> None:
        if isinstance(content, list):
            content = "".join(part.text or "" for part in content)
        if self._text is None:
            self._text = []
        if content:
            self._note_output()
            self._text.append(content)
            if self._listener is not None:
                self._listener.text(content)

    def _add_call(self, piece: CallDelta, *, is_new: bool) -> None:
        function = piece.function
        name = (function.name if function is not None else None) or ""
        call_id = "" if piece.id is None else str(piece.id)
        call = None if is_new and name else self._find_call(piece.index, call_id, name)
        if call is None:
            self._note_output()
            call = _OpenCall()
            self._calls.append(call)
        self._open[piece.index] = call
        call.id = call.id or call_id
        call.signature = call.signature or piece.extra_content
        if name != call.name and not call.arguments:
            call.name += name
        arguments = function.arguments if function is not None else None
        if arguments is not None and not isinstance(arguments, str):
            arguments = msgspec.json.encode(arguments).decode()
            call.is_text = False
        if arguments:
            call.arguments.append(arguments)

    def _find_call(self, index: int | None, call_id: str, name: str) -> _OpenCall | None:
        """Find the call a piece belongs to; None when it begins a new one.

        Indexes alone do not tell: some servers give index 0, or none, to every one of several parallel calls.
        """
        call = self._open.get(index)
        if call is None:
            if name and index is not None:
                return None
            call = self._calls[-1] if self._calls and not name else None
        if call_id and (call is None or call.id != call_id):
            known = next((other for other in self._calls if other.id == call_id), None)
            # An id that is new and has no name with it is one that a server makes up for each piece.
            return known or (None if name else call)
        if call is not None and name and not call_id and self._begins_another(call, name):
            return None
        return call

    def _begins_another(self, call: _OpenCall, name: str) -> bool:
        """Whether a name without an id is that of a further call, not a piece or repetition of this one's name."""
        if call.arguments:
            return call.is_complete()
        return name != call.name and call.name in self._tool_names and call.name + name not in self._tool_names

    def _count(self, usage: Usage | None) -> None:
        # Some servers report a running count in each chunk, some zeros until the last: the largest is the whole.
        if usage is not None and (self.usage is None or usage.total_tokens >= self.usage.total_tokens):
            self.usage = usage

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls so far, each with an id that no other call of the conversation has."""
        seen: set[str] = set()
        calls = []
        for call in self._calls:
            if not call.id or call.id in seen or call.id in self._taken_ids:
                call.id = new_call_id()
                self.has_replaced_ids = True
            seen.add(call.id)
            calls.append(call.to_call())
        return tuple(calls)


class Reading(NamedTuple):
    """What a whole reply says: its text, its calls, why it ended, and whether its own form had to be mended."""

    text: str | None
    calls: tuple[ToolCall, ...]
    finish_reason: str | None
    is_mended: bool = False


def new_call_id() -> str:
    """Make a call id for a call that came without one."""
    return f"call_{uuid.uuid4().hex[:24]}"
