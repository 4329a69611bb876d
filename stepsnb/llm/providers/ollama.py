"""Ollama on this machine or another. Source: docs.ollama.com, "OpenAI compatibility" and "FAQ" (`OLLAMA_HOST`)."""

from .base import Provider

OLLAMA = Provider(
    name="ollama",
    base_url="http://127.0.0.1:11434/v1",
    base_url_env="OLLAMA_HOST",
    string_tool_choice=True,
    advice="start it (`ollama serve`), or set `source.endpoint`",
)
