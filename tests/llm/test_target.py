"""Where requests go: provider, model, address, key variable and dials, found before anything is sent."""

from decimal import Decimal

import pytest

from stepsnb.config import Agent, PriceEntry, Source
from stepsnb.errors import InputError
from stepsnb.llm import resolve_target
from stepsnb.usage import Price


def resolve(tmp_path, *, default_model=None, prices=None, agent=None, **source):
    return resolve_target(
        Source(**source),
        agent=Agent(name="critic", **(agent or {})),
        prices=prices or {},
        default_model=default_model,
        base_dir=tmp_path,
    )


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)


def test_prefix_names_the_provider_and_is_taken_off(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-1")
    target = resolve(tmp_path, model="openrouter/anthropic/claude-x")
    assert (target.provider, target.model, target.label) == (
        "openrouter",
        "anthropic/claude-x",
        "openrouter/anthropic/claude-x",
    )
    assert (target.base_url, target.api_key_env) == ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")
    assert "sk-1" not in repr(target)


def test_with_an_endpoint_the_model_goes_out_verbatim(tmp_path):
    target = resolve(tmp_path, model="openrouter/x", endpoint="http://127.0.0.1:8/v1/")
    assert (target.model, target.base_url, target.api_key_env) == ("openrouter/x", "http://127.0.0.1:8/v1", None)


def test_default_model_serves_an_agent_without_one(tmp_path):
    assert resolve(tmp_path, default_model="scripted/a.yml").model == "a.yml"


def test_model_name_may_hold_slashes_and_colons(tmp_path):
    assert resolve(tmp_path, model="ollama/hf.co/x/y:Q4").model == "hf.co/x/y:Q4"


def test_no_model_at_all_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"agent `critic`: names no model; set `source.model`, or `defaults.model`"):
        resolve(tmp_path)


def test_unknown_provider_is_an_error_with_the_nearest_name(tmp_path):
    with pytest.raises(InputError) as caught:
        resolve(tmp_path, model="openruter/x")
    assert str(caught.value) == (
        "agent `critic`: unknown provider `openruter` (did you mean `openrouter`?); available: anthropic, deepseek, "
        "google, groq, llama-server, lmstudio, local, mistral, ollama, openai, openrouter, scripted; "
        "to send `openruter/x` as it is to another server, set "
        "`source.endpoint`"
    )


@pytest.mark.parametrize("model", ["gpt-5", "openai/"])
def test_model_without_a_provider_is_an_error(tmp_path, model):
    with pytest.raises(InputError, match="names no provider; write `PROVIDER/MODEL` with one of anthropic, "):
        resolve(tmp_path, model=model)


def test_missing_key_variable_is_an_error_that_says_how_to_set_it(tmp_path):
    with pytest.raises(InputError) as caught:
        resolve(tmp_path, model="openai/gpt-5")
    assert str(caught.value) == (
        "agent `critic`: provider `openai`: OPENAI_API_KEY is not set; set it in the environment before the kernel "
        "starts, write `OPENAI_API_KEY=…` into a file `.env` here, or set it in a cell with "
        '`import os, getpass; os.environ["OPENAI_API_KEY"] = getpass.getpass()`'
    )


def test_agents_own_key_variable_counts_for_an_endpoint_too(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="MY_KEY is not set"):
        resolve(tmp_path, model="m", endpoint="https://box.example/v1", api_key_env="MY_KEY")
    monkeypatch.setenv("MY_KEY", "k")
    assert resolve(tmp_path, model="m", endpoint="https://box.example/v1", api_key_env="MY_KEY").api_key_env == "MY_KEY"


def test_key_with_a_line_break_inside_is_an_error_that_does_not_show_it(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1\nsk-2")
    with pytest.raises(InputError, match="OPENAI_API_KEY holds a character that no key has") as caught:
        resolve(tmp_path, model="openai/gpt-5")
    assert "sk-1" not in str(caught.value)


def test_servers_own_variable_moves_its_address(tmp_path, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:9999")
    assert resolve(tmp_path, model="ollama/x").base_url == "http://127.0.0.1:9999/v1"


@pytest.mark.parametrize("value", ["box:99999", "ftp://box", "http://[::1"])
def test_variable_with_no_address_is_an_error(tmp_path, monkeypatch, value):
    monkeypatch.setenv("OLLAMA_HOST", value)
    with pytest.raises(InputError, match="agent `critic`: provider `ollama`: OLLAMA_HOST holds no http address"):
        resolve(tmp_path, model="ollama/x")


def test_password_in_an_endpoint_is_an_error_that_does_not_show_it(tmp_path):
    with pytest.raises(InputError, match=r"`source.endpoint` holds a user name or password") as caught:
        resolve(tmp_path, model="m", endpoint="https://me:hunter2@box.example/v1")
    assert "hunter2" not in str(caught.value)


def test_tool_mode_auto_is_the_providers(tmp_path):
    assert resolve(tmp_path, model="local/smollm2").tool_mode == "json"
    assert resolve(tmp_path, model="ollama/x").tool_mode == "native"
    assert resolve(tmp_path, model="local/smollm2", tool_mode="native").tool_mode == "native"
    assert resolve(tmp_path, model="ollama/x", tool_mode="json").tool_mode == "json"


def test_string_tool_choice_is_the_providers_unless_said(tmp_path):
    assert resolve(tmp_path, model="lmstudio/x").string_tool_choice
    assert not resolve(tmp_path, model="lmstudio/x", string_tool_choice=False).string_tool_choice
    assert not resolve(tmp_path, model="llama-server/x").string_tool_choice


def test_dials_are_the_agents(tmp_path):
    dials = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 70, "reasoning_effort": "low", "context_window": 4096}
    target = resolve(tmp_path, model="ollama/x", agent=dials)
    assert {name: getattr(target, name) for name in dials} == dials


def test_local_model_has_a_bound_of_its_own(tmp_path):
    assert resolve(tmp_path, model="local/smollm2").max_tokens == 600
    assert resolve(tmp_path, model="local/smollm2", agent={"max_tokens": 50}).max_tokens == 50
    assert resolve(tmp_path, model="ollama/x").max_tokens is None


@pytest.mark.parametrize("key", ["openai/gpt-5", "gpt-5"])
def test_price_is_found_by_either_name(tmp_path, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    entry = PriceEntry(input=Decimal(2), output=Decimal(8), cache_read=Decimal("0.2"))
    target = resolve(tmp_path, model="openai/gpt-5", prices={key: entry})
    assert target.price == Price(input=Decimal(2), output=Decimal(8), cache_read=Decimal("0.2"), source="pipeline")


def test_what_runs_here_costs_nothing(tmp_path):
    for model in ("local/smollm2", "scripted/a.yml"):
        price = resolve(tmp_path, model=model).price
        assert (price.input, price.output, price.source) == (0, 0, "local")
    assert resolve(tmp_path, model="ollama/x").price is None


def resolve_client(tmp_path, **options):
    return resolve(tmp_path, client="my_llm", **options)


def test_model_of_a_client_goes_out_verbatim_and_no_key_is_asked_for(tmp_path):
    target = resolve_client(tmp_path, model="openai/gpt-5")
    assert (target.provider, target.client) == ("client", "my_llm")
    assert (target.model, target.label, target.base_url) == ("openai/gpt-5", "openai/gpt-5", "")
    assert (target.api_key_env, target.tool_mode) == (None, "native")


def test_model_of_a_client_has_the_pipelines_price(tmp_path):
    prices = {"tides": PriceEntry(input=Decimal(2), output=Decimal(8))}
    assert resolve_client(tmp_path, model="tides", prices=prices).price == Price(input=Decimal(2), output=Decimal(8))


def test_dials_and_tool_mode_hold_for_a_client(tmp_path):
    target = resolve_client(tmp_path, model="m", tool_mode="json", stream=False, agent={"temperature": 0.5})
    assert (target.tool_mode, target.stream, target.temperature) == ("json", False, 0.5)


def test_client_needs_a_model(tmp_path):
    with pytest.raises(InputError, match=r"agent `critic`: names no model"):
        resolve_client(tmp_path)
