"""What a request costs, and that an unknown price is no price."""

from decimal import Decimal
from importlib.metadata import version

import pytest

from stepsnb.llm import ModelClient
from stepsnb.llm.prices import price_table, price_usage
from stepsnb.llm.target import FREE
from stepsnb.messages import user
from stepsnb.usage import Price, Usage

from .conftest import DONE, build_target, delta, event

USAGE = Usage(input_tokens=3000, cached_input_tokens=9000, output_tokens=800, reasoning_tokens=600)


def test_pipelines_price_comes_first():
    price = Price(input=Decimal(2), cache_read=Decimal("0.2"), output=Decimal(8))
    target = build_target("https://api.openai.com/v1", provider="openai", model="gpt-4.1", price=price)
    assert price_usage(target, USAGE) == (Decimal("0.0142"), "pipeline")


def test_known_model_of_a_known_provider_is_priced_from_the_table():
    target = build_target("https://api.openai.com/v1", provider="openai", model="gpt-4.1")
    cost, source = price_usage(target, USAGE)
    assert source == price_table()
    assert cost == Decimal("0.0169")  # 3,000 x $2.00, 9,000 x $0.50 and 800 x $8.00 a million


def test_endpoint_of_a_known_provider_is_priced_by_its_address():
    target = build_target("https://api.deepseek.com/v1", model="deepseek-chat")
    assert price_usage(target, USAGE)[1] == price_table()


def test_unknown_price_is_none_and_never_zero():
    target = build_target("https://api.openai.com/v1", provider="openai", model="no-such-model-ever")
    assert price_usage(target, USAGE) == (None, None)


def test_server_on_this_machine_is_not_priced_by_a_models_name():
    assert price_usage(build_target(model="gpt-4.1"), USAGE) == (None, None)
    assert price_usage(build_target(provider="ollama", model="gpt-4.1"), USAGE) == (None, None)


def client_target(base_url, **fields):
    return build_target(base_url, provider="client", client="my_llm", **fields)


def test_model_of_a_client_is_priced_by_the_address_of_the_client():
    at_openai = price_usage(client_target("https://api.openai.com/v1/", model="gpt-4.1"), USAGE)
    assert at_openai == (Decimal("0.0169"), price_table())
    azure = client_target("https://tides.openai.azure.com/openai/", model="gpt-4.1")
    assert price_usage(azure, USAGE)[1] == price_table()


@pytest.mark.parametrize("base_url", ["https://gateway.example/v1/", ""])
def test_model_of_a_client_at_an_unknown_address_is_priced_by_its_name(base_url):
    assert price_usage(client_target(base_url, model="gpt-4.1"), USAGE) == (Decimal("0.0169"), price_table())
    assert price_usage(client_target(base_url, model="no-such-model-ever"), USAGE) == (None, None)


def test_client_of_a_server_on_this_machine_is_not_priced_by_a_models_name():
    assert price_usage(client_target("http://127.0.0.1:9/v1/", model="gpt-4.1"), USAGE) == (None, None)


def test_free_is_zero_and_says_why():
    assert price_usage(build_target(provider="scripted", price=FREE), USAGE) == (0, "local")


async def test_reply_carries_its_cost(wire_server):
    price = Price(input=Decimal(2), cache_read=Decimal("0.2"), output=Decimal(8))
    counts = {"prompt_tokens": 12000, "completion_tokens": 800, "prompt_tokens_details": {"cached_tokens": 9000}}
    wire_server.streams(delta(content="x"), delta("stop"), event({"choices": [], "usage": counts}), DONE)
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    chat = ModelClient(build_target(wire_server.base_url, price=price)).open([])
    reply = await chat.complete([user("hi")])
    assert (reply.cost_usd, reply.price_source) == (Decimal("0.0142"), "pipeline")
    uncounted = await chat.complete([user("hi")])
    assert (uncounted.usage, uncounted.cost_usd, uncounted.price_source) == (None, None, None)


def test_table_is_named_with_the_version_that_dates_it():
    assert price_table() == f"genai-prices {version('genai-prices')}"
