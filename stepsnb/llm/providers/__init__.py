"""The providers, one line each; adding one is a file here and a line below."""

from urllib.parse import urlsplit

from .base import Provider
from .endpoint import ENDPOINT
from .llama_server import LLAMA_SERVER
from .lmstudio import LMSTUDIO
from .local import LOCAL
from .ollama import OLLAMA
from .openai import OPENAI
from .openrouter import OPENROUTER
from .scripted import SCRIPTED

__all__ = ["PROVIDERS", "Provider", "provider_at", "provider_named"]

PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        LLAMA_SERVER,
        LMSTUDIO,
        LOCAL,
        OLLAMA,
        OPENAI,
        OPENROUTER,
        SCRIPTED,
    )
}
"""Providers by the prefix of their models."""


def provider_named(name: str) -> Provider:
    """Return the provider a resolved target names: one of the table, or any endpoint."""
    return PROVIDERS.get(name, ENDPOINT)


def provider_at(endpoint: str) -> Provider:
    """Return the hosted provider whose address an endpoint is, else the entry for any endpoint."""
    host = urlsplit(endpoint).hostname
    for provider in (OPENAI, OPENROUTER):
        if provider.base_url and host == urlsplit(provider.base_url).hostname:
            return provider
    return ENDPOINT
