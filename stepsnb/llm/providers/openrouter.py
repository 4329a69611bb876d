"""OpenRouter: many providers behind one key. Source: openrouter.ai/docs, "API reference" and "Prompt caching".

Models of Anthropic want a marker of what to cache; the others cache by themselves, and a marker could be refused.
"""

from .base import Provider

OPENROUTER = Provider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    key_env="OPENROUTER_API_KEY",
    prices_id="openrouter",
    has_model_windows=True,
    pins_sessions=True,
    probe_path="key",
    marks_cache=("anthropic/", "~anthropic/"),
)
