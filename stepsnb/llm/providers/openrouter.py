"""OpenRouter: many providers behind one key. Source: openrouter.ai/docs, "API reference"."""

from .base import Provider

OPENROUTER = Provider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    key_env="OPENROUTER_API_KEY",
    prices_id="openrouter",
    has_model_windows=True,
)
