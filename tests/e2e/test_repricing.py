"""Old runs are priced by another table than that of then."""

import json

import pytest

import stepsnb
from stepsnb.cli.main import main
from stepsnb.errors import InputError
from stepsnb.llm.transports.script import ScriptedReply
from stepsnb.usage import Usage


@pytest.fixture
def run(scripted_llm, tmp_path):
    """A run of an agent whose tokens are of every class."""

    def run(*replies):
        scripted_llm.script.conversations[0].replies.extend(replies)
        text = f"""
agents: [{{name: a, source: {{model: {scripted_llm.model}}}, tools: []}}]
jobs: [{{name: j, plan: [{{agent: a, prompt: Go.}}]}}]
"""
        return stepsnb.run(text, store=tmp_path / "store")

    return run


REPLY = ScriptedReply(
    text="Done.", usage=Usage(input_tokens=3000, cached_input_tokens=9000, cache_write_tokens=500, output_tokens=800)
)
PRICE = {"input": 2, "cache_read": "0.20", "cache_write": 2.5, "output": 8}


def test_each_class_has_its_price(run, scripted_llm, tmp_path):
    run(REPLY)
    found = stepsnb.cost(prices={scripted_llm.model: PRICE}, store=tmp_path / "store").iloc[0]
    assert found["cost_usd"] == pytest.approx((3000 * 2 + 9000 * 0.2 + 500 * 2.5 + 800 * 8) / 1e6)
    assert (found["price_source"], found["incomplete"]) == ("given", False)
    assert stepsnb.cost(store=tmp_path / "store").iloc[0]["cost_usd"] == 0  # what is recorded stays


def test_model_is_found_without_its_provider_too(run, scripted_llm, tmp_path):
    run(REPLY)
    name = scripted_llm.model.partition("/")[2]
    assert stepsnb.cost(prices={name: PRICE}, store=tmp_path / "store")["cost_usd"][0] > 0


def test_model_without_a_price_is_unknown_not_free(run, tmp_path):
    run(REPLY)
    found = stepsnb.cost(prices={"other": PRICE}, store=tmp_path / "store").iloc[0]
    assert (str(found["cost_usd"]), found["incomplete"]) == ("nan", True)


def test_request_that_nobody_counted_leaves_the_sum_incomplete(run, scripted_llm, tmp_path):
    run(ScriptedReply(text="Done.", usage=Usage()))
    found = stepsnb.cost(prices={scripted_llm.model: PRICE}, store=tmp_path / "store").iloc[0]
    assert (found["cost_usd"], found["incomplete"]) == (0, True)


def test_prices_of_a_file_are_a_pipelines(run, scripted_llm, tmp_path, capsys):
    result = run(REPLY)
    file = tmp_path / "prices.yml"
    file.write_text(f"prices:\n  {scripted_llm.model}: {{input: 2, output: 8}}\n")
    assert main(["cost", result.run_id, "--prices", str(file), "--store", str(tmp_path / "store"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["cost_usd"] == pytest.approx((12_500 * 2 + 800 * 8) / 1e6)


def test_empty_store_has_the_same_columns(tmp_path):
    store = tmp_path / "none"
    assert list(stepsnb.cost(prices={}, store=store).columns) == list(stepsnb.cost(store=store).columns)


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ({"m": {"input": 1}}, "prices of `m`: `output` is missing"),
        ({"m": {"input": 1, "output": -1}}, "`output: -1` is no price"),
        ({"m": {"input": "x", "output": 1}}, "`input: x` is no price"),
        ({"m": {"input": float("nan"), "output": 1}}, "is no price"),
        ({"m": {"input": 1, "output": 1, "cached": 1}}, "unknown key `cached`"),
        ({"m": 3}, "give {input: …, output: …}"),
        ([1], "give a mapping"),
        ("no-such-file.yml", "cannot be read"),
    ],
)
def test_what_is_no_price_is_named(run, tmp_path, prices, words):
    run(REPLY)
    with pytest.raises(InputError) as caught:
        stepsnb.cost(prices=prices, store=tmp_path / "store")
    assert words in str(caught.value)
