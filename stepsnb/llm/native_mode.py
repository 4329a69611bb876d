"""Requests to models that call tools themselves: tools and `tool_choice` in the body, calls in the reply."""

from collections.abc import Sequence

from ..messages import Message
from .assembly import Assembly, Reading
from .promotion import offered_tools, promote_calls
from .providers import provider_named
from .repair_calls import CallRepairer
from .request import Choice, Listener, ToolSpec
from .target import Target
from .wire import HistoryBytes, encode_json, encode_message, encode_tool, join_json


class NativeMode:
    """How a conversation is written for, and read from, a model that calls tools natively."""

    def __init__(self, target: Target, tools: Sequence[ToolSpec]) -> None:
        self._provider = provider_named(target.provider, target.base_url)
        self.tool_names = frozenset(tool.name for tool in tools)
        self._tools = {tool.name: tool for tool in tools}
        self._repairer = CallRepairer(tools)
        self._string_tool_choice = target.string_tool_choice
        self._encoded = {tool.name: encode_tool(tool) for tool in tools}
        self._tails: dict[tuple[tuple[str, ...] | None, bool], bytes] = {}

    def begin(self) -> HistoryBytes:
        """Return the bytes of a conversation that begins."""
        return HistoryBytes(self.encode, answers_tools=self._provider.answers_tools)

    def encode(self, message: Message, *, is_first: bool) -> bytes:
        """Encode one message of the history."""
        return encode_message(message, self._provider)

    def tail(self, choice: Choice) -> bytes:
        """Return what stands behind the messages in the body."""
        if not choice.may_call or not self._encoded or choice.tools == ():
            return b""
        key = (choice.tools, choice.must_call)
        if key not in self._tails:
            self._tails[key] = self._build_tail(*key)
        return self._tails[key]

    def _build_tail(self, names: tuple[str, ...] | None, must_call: bool) -> bytes:
        forced = None
        if must_call and names is not None and len(names) == 1 and not self._string_tool_choice:
            # The whole grant stays in the request: a changed list of tools would lose the provider's prompt cache.
            forced, names = names[0], None
        offered = self._encoded if names is None else {name: self._encoded[name] for name in names}
        tail = b',"tools":' + join_json(offered.values())
        if forced is not None:
            tail += b',"tool_choice":' + encode_json({"type": "function", "function": {"name": forced}})
        elif must_call:
            tail += b',"tool_choice":"required"'
        return tail

    def listen(self, listener: Listener | None) -> Listener | None:
        """Return who hears the raw pieces of the reply."""
        return listener

    def read(self, assembly: Assembly, choice: Choice, history: Sequence[Message]) -> Reading:
        """Return what a whole reply says. Without calls of its own, those written in its text are looked for."""
        text, finish_reason = assembly.text, assembly.finish_reason
        calls = assembly.calls()
        if not calls and text:
            text, calls = promote_calls(text, offered_tools(self._tools, choice), history)
            if calls and finish_reason != "length":
                finish_reason = "tool_calls"
        return Reading(text, self._repairer.repair_all(calls, finish_reason), finish_reason)

    def read_partial(self, assembly: Assembly) -> Reading:
        """Return what has arrived of a reply that broke off, as it came."""
        return Reading(assembly.text, assembly.calls(), assembly.finish_reason)
