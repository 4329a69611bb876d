"""Anthropic's endpoint for OpenAI's clients. Source: platform.claude.com/docs, "OpenAI SDK compatibility"."""

from .base import Provider

ANTHROPIC = Provider(
    name="anthropic",
    base_url="https://api.anthropic.com/v1",
    key_env="ANTHROPIC_API_KEY",
    prices_id="anthropic",
    probe_key_header="x-api-key",
    probe_headers=(("anthropic-version", "2023-06-01"),),
)
