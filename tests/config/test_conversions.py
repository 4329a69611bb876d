"""The field decides what a scalar is."""

from decimal import Decimal

import pytest

from stepsnb.config import load_text
from stepsnb.errors import ConfigError


def test_text_keeps_its_source(load_task):
    words = ["yes", "off", "010", "3.10", "12:30", "1_000", "0x1F", "2026-01-02", ".5", "1e3", "NaN", "=", "<<"]

    assert list(load_task(f"env: {{{', '.join(f'A{i}: {w}' for i, w in enumerate(words))}}}").env.values()) == words


@pytest.mark.parametrize(("text", "value"), [("010", 10), ("+3", 3), ("0o17", 15), ("0x1F", 31), ("0", 0)])
def test_whole_number_follows_yaml_1_2(load_agent, text, value):
    assert load_agent(step=f"prompt: Go.\nmax_turns: {text}")[1].max_turns == value


@pytest.mark.parametrize("text", ["1_000", "3.0", "1e3", "0b11", "12:30", "9" * 5000, "true"])
def test_what_is_no_whole_number_is_refused(load_agent, text):
    with pytest.raises(ConfigError, match="must be a whole number; write digits only, such as `30`"):
        load_agent(step=f"prompt: Go.\nmax_turns: {text}")


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), (".5", 0.5), ("2e-1", 0.2), ("0.", 0.0)])
def test_number_follows_yaml_1_2(load_agent, text, value):
    assert load_agent(f"temperature: {text}")[0].temperature == value


@pytest.mark.parametrize("text", [".inf", ".nan", "1e999", "warm", "1,5"])
def test_what_is_no_finite_number_is_refused(load_agent, text):
    with pytest.raises(ConfigError, match=r"must be a number; write it with digits, such as `0\.2`"):
        load_agent(f"temperature: {text}")


@pytest.mark.parametrize(
    ("key", "what"), [("temperature", "a number"), ("max_tokens", "a whole number"), ("preflight", "`true` or `false`")]
)
def test_list_is_no_scalar(load_agent, key, what):
    with pytest.raises(ConfigError, match=f"`{key}:` must be {what}, not a list; write it on one line"):
        load_agent(f"{key}: [1]")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("TRUE", True), ("False", False)])
def test_flag_follows_yaml_1_2(load_agent, text, value):
    text = f"source: {{model: a/b, stream: {text}}}"

    assert (
        load_text(f"agents: [{{name: w, {text}}}]\njobs: [{{name: j, plan: [{{agent: w, prompt: a}}]}}]")
        .agents[0]
        .source.stream
        is value
    )


def test_word_that_is_no_flag_is_refused(load_agent):
    with pytest.raises(ConfigError, match=r"`assert\.nudge: maybe` must be `true` or `false`; write one of the two"):
        load_agent(step="prompt: Go.\nassert: {stdout: x, nudge: maybe}")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30.0), ("5m", 300.0), ("1h30m", 5400.0), ("250ms", 0.25), ("1.5h", 5400.0), ("0", 0.0), ('"0"', 0.0)],
)
def test_duration_is_seconds(load_task, text, seconds):
    assert load_task(f"timeout: {text}").timeout_s == seconds


@pytest.mark.parametrize("text", ["999999999h", "0.0s"])
def test_duration_out_of_range_is_refused(load_task, text):
    with pytest.raises(ConfigError, match="is out of range; give more than nothing and less than ten years"):
        load_task(f"timeout: {text}")


def test_price_is_exact():
    prices = load_text("prices: {m: {input: 0.20, output: 8}}\njobs: [{name: j, plan: [{task: t, run: echo}]}]").prices

    assert (prices["m"].input, prices["m"].output, prices["m"].cache_read) == (Decimal("0.20"), Decimal(8), None)


@pytest.mark.parametrize("name", ['"a\\nb"', '" a"', '"a\\e"'])
def test_name_stands_on_one_line_without_spaces_around_it(problems, name):
    [line] = problems(f"jobs:\n- name: j\n  plan: [{{task: {name}, run: echo}}]")

    assert line.endswith("is no name; write it on one line without spaces around it")


@pytest.mark.parametrize("url", ["ftp://a/v1", "http://", "http://a:99999/v1", "http://[::1", "127.0.0.1/v1"])
def test_endpoint_is_an_http_address(problems, url):
    agent = f"agents: [{{name: w, source: {{model: m, endpoint: '{url}'}}}}]\n"
    [line] = problems(agent + "jobs: [{name: j, plan: [{agent: w, prompt: a}]}]")

    assert line.endswith(
        f"`source.endpoint: {url}` is no http address; give a base URL such as `http://127.0.0.1:8080/v1`"
    )


def test_key_written_into_the_file_is_not_repeated(problems):
    agent = "agents: [{name: w, source: {model: m/n, api_key_env: sk-secret-1}}]\n"
    [line] = problems(agent + "jobs: [{name: j, plan: [{agent: w, prompt: a}]}]")

    assert "sk-secret-1" not in line
    assert line.endswith(
        "must name an environment variable, never the key itself; write a name such as `OPENROUTER_API_KEY`"
    )
