"""The windows of families of models, held against what genai-prices lists."""

from collections import defaultdict

import pytest
from genai_prices.data_snapshot import get_snapshot

from stepsnb.llm.families import FAMILIES, family_of, family_window, normalize


def _listed() -> dict[str, list[tuple[int, str]]]:
    found = defaultdict(list)
    for provider in get_snapshot().providers:
        for model in provider.models:
            if model.context_window and (family := family_of(model.id)) is not None:
                found[family].append((model.context_window, f"{provider.id}:{model.id}"))
    return found


def test_no_family_is_larger_than_any_of_its_models():
    smallest = {family: min(models) for family, models in _listed().items()}
    too_large = {family: found for family, found in smallest.items() if found[0] < FAMILIES[family]}
    assert too_large == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_is_hidden_by_one_before_it(family):
    assert family_of(family) == family


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-sonnet-4.5", "claude"),
        ("anthropic/claude-haiku-4.5", "claude-haiku-4-5"),
        ("claude_haiku_4_5", "claude-haiku-4-5"),
        ("Qwen/Qwen3-32B", "qwen"),
        ("qwen3-8b", "qwen"),
        ("qwen3.8-27b:free", "qwen-3-8"),
        ("llama3.1:8b", "llama-3-1"),
        ("meta.llama3-70b-instruct-v1:0", "llama-3"),
        ("gpt-4o-mini", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-7-nova", "gpt"),
        ("gemma3n:e4b", "gemma"),
        ("unsloth/SmolLM2-1.7B-Instruct-GGUF", "smollm-2"),
        ("global.anthropic.claude-opus-5", "claude"),
    ],
)
def test_name_is_found_however_it_is_written(model, family):
    assert family_of(model) == family


@pytest.mark.parametrize("model", ["m1", "some-local-build", "so1-30b", "egpt", "", "/", "qwen-embed", "llama-guard-4"])
def test_name_of_no_family_has_no_window(model):
    assert family_window(model) is None


def test_unknown_sibling_is_taken_for_the_smallest():
    assert family_window("claude-opus-9-9") == 200_000
    assert family_window("gpt-5.9") == 400_000


def test_names_are_folded_to_one_form():
    assert normalize("OpenRouter/Qwen/Qwen3.7_Flash:free") == "qwen3-7-flash"
