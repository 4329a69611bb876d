"""The table of providers."""

import pytest

from stepsnb.llm import PROVIDERS
from stepsnb.llm.providers import provider_at, provider_named


def test_providers_are_these():
    here = ["llama-server", "lmstudio", "local", "ollama", "scripted"]
    hosted = ["anthropic", "deepseek", "google", "groq", "mistral", "openai", "openrouter"]
    assert sorted(PROVIDERS) == sorted(here + hosted)


@pytest.mark.parametrize(
    ("name", "base_url", "key_env"),
    [
        ("llama-server", "http://127.0.0.1:8080/v1", None),
        ("lmstudio", "http://127.0.0.1:1234/v1", None),
        ("ollama", "http://127.0.0.1:11434/v1", None),
        ("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        ("google", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    ],
)
def test_provider_has_its_address_and_key_variable(name, base_url, key_env):
    assert (PROVIDERS[name].base_url, PROVIDERS[name].key_env) == (base_url, key_env)


def test_only_the_local_model_is_in_json_mode():
    assert [name for name, provider in PROVIDERS.items() if provider.tool_mode == "json"] == ["local"]


def test_string_tool_choice_is_the_way_of_lmstudio_and_ollama():
    assert sorted(name for name, each in PROVIDERS.items() if each.string_tool_choice) == ["lmstudio", "ollama"]


def test_only_what_runs_here_is_free():
    assert sorted(name for name, each in PROVIDERS.items() if each.is_free) == ["local", "scripted"]


def test_endpoint_of_a_hosted_provider_is_that_provider():
    assert provider_at("https://openrouter.ai/api/v1").name == "openrouter"
    assert provider_at("https://openrouter.ai.evil.example/api/v1").name == "endpoint"
    assert provider_at("http://127.0.0.1:11434/v1").name == "endpoint"


def test_name_without_an_entry_is_any_endpoint():
    assert provider_named("endpoint").name == "endpoint"


@pytest.mark.parametrize(
    ("base_url", "max_tokens_key"),
    [
        ("https://api.openai.com/v1/", "max_completion_tokens"),
        ("https://tides.openai.azure.com/openai/", "max_completion_tokens"),
        ("https://tides.openai.azure.com.evil.example/openai/", "max_tokens"),
        ("http://127.0.0.1:8000/v1/", "max_tokens"),
        ("", "max_tokens"),
    ],
)
def test_client_is_written_to_in_the_words_of_its_server(base_url, max_tokens_key):
    provider = provider_named("client", base_url)
    assert (provider.name, provider.max_tokens_key, provider.key_env) == ("client", max_tokens_key, None)
