"""Groq. Source: console.groq.com/docs, "OpenAI compatibility" and "API reference"; its models list their windows."""

from .base import Provider

GROQ = Provider(
    name="groq",
    base_url="https://api.groq.com/openai/v1",
    key_env="GROQ_API_KEY",
    max_tokens_key="max_completion_tokens",
    prices_id="groq",
    has_model_windows=True,
)
