"""An estimate of how many tokens a text is, for when no provider has counted them."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from ..messages import Message
from ..settings import IMAGE_TOKENS
from .request import ToolSpec

# Scripts whose characters are about one token each: kana, CJK ideographs, Hangul, full-width forms.
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u30ff\u3100-\u31ff\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)


def estimate_text(text: str) -> int:
    """Estimate the tokens of one text: CJK code points + UTF-8 bytes of the rest / 4, rounded up."""
    if text.isascii():
        return -(-len(text) // 4)
    rest, cjk = _CJK.subn("", text)
    return cjk - (-len(rest.encode("utf-8", "replace")) // 4)


def estimate_tokens(messages: Iterable[Message], tools: Sequence[ToolSpec] = ()) -> int:
    """Estimate the tokens of a request: texts and call arguments of `messages`, and the schemas of `tools`.

    Only feeds the context gauge and decides when to compact; money is counted from what the provider reports.
    """
    total = 0
    for message in messages:
        total += estimate_text(message.content or "") + IMAGE_TOKENS * len(message.images)
        for call in message.tool_calls:
            total += estimate_text(call.name) + estimate_text(call.arguments)
    for tool in tools:
        total += estimate_text(tool.name) + estimate_text(tool.description)
        total += estimate_text(msgspec.json.encode(tool.parameters).decode())
    return total
