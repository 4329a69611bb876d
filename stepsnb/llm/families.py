"""Context windows of families of models, for those that no catalogue and no server knows.

A family has the smallest window that genai-prices lists for any model of it at any host, so a sibling that is newer
than the table is taken for smaller than it is, never for larger. Source: genai-prices; a test compares the two.
"""

import re
from typing import Final

FAMILIES: Final[dict[str, int]] = {
    "claude-haiku-4-5": 144_000,
    "claude": 200_000,
    "gpt-oss": 128_000,
    "gpt-6": 400_000,
    "gpt-5-6": 328_000,
    "gpt-5-5": 400_000,
    "gpt-5-4": 400_000,
    "gpt-5-3": 128_000,
    "gpt-5-mini": 264_000,
    "gpt-5": 400_000,
    "gpt-4-1": 128_000,
    "gpt-4o": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4-vision": 128_000,
    "gpt-4-32k": 32_000,
    "gpt-4": 8_191,
    "gpt-3-5": 4_095,
    "gpt": 128_000,
    "codex": 200_000,
    "o1": 128_000,
    "o3": 200_000,
    "o4": 200_000,
    "gemini-2-5": 1_000_000,
    "gemini-2": 1_000_000,
    "gemini-1-5": 1_000_000,
    "gemini-4": 1_048_576,
    "gemini-3-8-live": 131_072,
    "gemini-3": 264_000,
    "gemini": 32_768,
    "grok-2": 32_768,
    "grok-3": 131_072,
    "grok-4": 256_000,
    "grok": 131_072,
    "deepseek-r1-distill": 8_192,
    "deepseek-r1": 64_000,
    "deepseek-v4": 1_000_000,
    "deepseek-v3-2": 128_000,
    "deepseek-v3-1": 128_000,
    "deepseek-v3": 32_768,
    "deepseek": 64_000,
    "kimi-k3": 1_000_000,
    "kimi": 131_072,
    "glm-5-3": 1_000_000,
    "glm-5-2": 1_000_000,
    "glm-5": 200_000,
    "glm-4-6": 202_752,
    "glm-4-7": 131_072,
    "glm-4-5": 128_000,
    "glm-4": 8_000,
    "glm": 65_536,
    "minimax-m3": 512_000,
    "minimax-m2-her": 65_536,
    "minimax": 196_000,
    "qwen-3-8": 65_536,
    "qwen-3-7": 262_144,
    "qwen-3-6": 262_144,
    "qwen-3-5": 256_000,
    "qwen-3-coder": 128_000,
    "qwen-3-max": 262_144,
    "qwen-mt": 16_384,
    "qwen": 32_000,
    "nemotron": 128_000,
    "hermes-4": 131_072,
    "hermes-3": 131_072,
    "hermes-2-pro": 8_192,
    "llama-4": 131_072,
    "llama-3-3": 12_288,
    "llama-3-2": 32_768,
    "llama-3-1": 16_384,
    "llama-3": 8_192,
    "llama-2": 4_096,
    "llama": 8_192,
    "openhermes": 4_096,
    "ministral": 128_000,
    "devstral": 256_000,
    "codestral": 256_000,
    "magistral": 128_000,
    "mixtral": 32_000,
    "mistral": 32_000,
    "gemma-4": 131_072,
    "gemma-3": 98_304,
    "gemma": 8_192,
    "phi-4": 16_384,
    "phi-3": 131_072,
    "phi": 16_384,
    "smollm-3": 65_536,
    "smollm-2": 8_192,
    "smollm": 2_048,
    "granite": 131_000,
    "command-light": 4_096,
    "command": 128_000,
    "olmo": 65_536,
}
"""Fragments of names and windows in tokens, the more specific ones first. SmolLM: its model cards on Hugging Face."""

# These hold no conversations, and some of them have windows of a few hundred tokens.
_OTHER_KINDS = re.compile(r"embed|guard|image|ocr|realtime|transcribe|tts|bge|audio|voxtral|banana")


def normalize(model: str) -> str:
    """Write a model's name as the table does: no provider or tag, lower case, dashes for dots and underscores."""
    return re.sub(r"[._ ]", "-", model.lower().rpartition("/")[2].partition(":")[0])


def family_window(model: str) -> int | None:
    """Return the smallest window of the family a model's name belongs to, None for a name of no family."""
    family = family_of(model)
    return None if family is None else FAMILIES[family]


def family_of(model: str) -> str | None:
    """Return the most specific family a model's name belongs to."""
    name = normalize(model)
    if _OTHER_KINDS.search(name):
        return None
    return next((family for family, pattern in _PATTERNS if pattern.search(name)), None)


def _pattern(family: str) -> re.Pattern[str]:
    """Match a family as a word of a name: `qwen-3` in `qwen3` and `qwen-3-32b`, and not in `qwen-30`."""
    written = re.sub(r"-(?=\d)", "-?", family)
    return re.compile(rf"(?<![a-z0-9]){written}{'(?![0-9a-z])' if family[-1].isdigit() else ''}")


_PATTERNS = tuple((family, _pattern(family)) for family in FAMILIES)
