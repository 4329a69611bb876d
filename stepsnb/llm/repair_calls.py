"""Repairs whole tool calls, with the schemas of the tools at hand."""

from collections.abc import Sequence

import msgspec

from ..messages import ToolCall
from .repair import repair_arguments
from .repair_schema import Nested, decode_nested, nested_arguments
from .request import ToolSpec


class CallRepairer:
    """Repairs the calls of one conversation."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        nested = {tool.name: nested_arguments(tool.parameters) for tool in tools}
        self._nested: dict[str, Nested] = {name: wanted for name, wanted in nested.items() if wanted}

    def repair(self, call: ToolCall, *, is_cut: bool = False) -> ToolCall:
        """Return the call with arguments that are a JSON object, marked where that took a repair.

        A call that is right, or that cannot be repaired safely, is returned as it is; so is one without arguments in
        a reply that `is_cut`, since they may have been on their way.
        """
        if is_cut and not call.arguments.strip():
            return call
        arguments = repair_arguments(call.arguments)
        if arguments is None:
            return call
        text, is_repaired = arguments
        if call.name in self._nested:
            decoded = decode_nested(text, self._nested[call.name])
            if decoded is not None:
                text, is_repaired = decoded, True
        if text == call.arguments:
            return call
        raw = call.arguments if call.raw is None else call.raw
        if is_repaired or call.repaired:
            return msgspec.structs.replace(call, arguments=text, repaired=True, raw=raw)
        return msgspec.structs.replace(call, arguments=text)

    def repair_all(self, calls: Sequence[ToolCall], finish_reason: str | None) -> tuple[ToolCall, ...]:
        """Repair the calls of a reply that ended for that reason."""
        return tuple(self.repair(call, is_cut=finish_reason == "length") for call in calls)
