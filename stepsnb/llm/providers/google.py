"""Google's Gemini API for OpenAI's clients. Sources: ai.google.dev, "OpenAI compatibility" and "Thought signatures"."""

from .base import Provider

GOOGLE = Provider(
    name="google",
    base_url="https://generativelanguage.googleapis.com/v1beta/openai",
    key_env="GEMINI_API_KEY",
    prices_id="google",
    signs_calls=True,
)
