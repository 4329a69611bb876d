"""The providers, one line each; adding one is a file here and a line below."""

import functools
from urllib.parse import urlsplit

import msgspec

from .anthropic import ANTHROPIC
from .base import Provider
from .client import CLIENT
from .deepseek import DEEPSEEK
from .endpoint import ENDPOINT
from .google import GOOGLE
from .groq import GROQ
from .llama_server import LLAMA_SERVER
from .lmstudio import LMSTUDIO
from .local import LOCAL
from .mistral import MISTRAL
from .ollama import OLLAMA
from .openai import OPENAI
from .openrouter import OPENROUTER
from .scripted import SCRIPTED

__all__ = ["PROVIDERS", "Provider", "provider_at", "provider_named"]

PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        ANTHROPIC,
        DEEPSEEK,
        GOOGLE,
        GROQ,
        LLAMA_SERVER,
        LMSTUDIO,
        LOCAL,
        MISTRAL,
        OLLAMA,
        OPENAI,
        OPENROUTER,
        SCRIPTED,
    )
}
"""Providers by the prefix of their models."""

_HOSTED = (ANTHROPIC, DEEPSEEK, GOOGLE, GROQ, MISTRAL, OPENAI, OPENROUTER)

_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
"""Hosts of Azure OpenAI. Source: learn.microsoft.com, "Azure OpenAI in Microsoft Foundry Models REST API"."""


def provider_named(name: str, base_url: str = "") -> Provider:
    """Return the provider a resolved target names: one of the table, a client brought along, or any endpoint.

    Such a client is written to in the words of the server it talks to, if that is a known one.
    """
    return _client_of(base_url) if name == CLIENT.name else PROVIDERS.get(name, ENDPOINT)


@functools.lru_cache(maxsize=64)
def _client_of(base_url: str) -> Provider:
    known = provider_at(base_url)
    if (urlsplit(base_url).hostname or "").endswith(_AZURE):
        known = msgspec.structs.replace(OPENAI, prices_id="azure")
    return msgspec.structs.replace(
        known,
        name=CLIENT.name,
        base_url=None,
        base_url_env=None,
        key_env=None,
        pins_sessions=False,
        marks_cache=(),
        has_model_windows=False,
        advice=CLIENT.advice,
    )


def provider_at(endpoint: str) -> Provider:
    """Return the hosted provider whose address an endpoint is, else the entry for any endpoint."""
    host = (urlsplit(endpoint).hostname or "").rstrip(".")
    for provider in _HOSTED:
        if provider.base_url and host == urlsplit(provider.base_url).hostname:
            return provider
    return ENDPOINT
