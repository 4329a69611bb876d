"""OpenAI. Source: platform.openai.com/docs, "Chat Completions"; `max_tokens` is refused by its reasoning models."""

from .base import Provider

OPENAI = Provider(
    name="openai",
    base_url="https://api.openai.com/v1",
    base_url_env="OPENAI_BASE_URL",
    key_env="OPENAI_API_KEY",
    max_tokens_key="max_completion_tokens",
    prices_id="openai",
)
