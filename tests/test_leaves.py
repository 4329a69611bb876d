"""Outcomes, events, messages and prices: the values everything else is made of."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.events import Question, TextDelta, Tool, decode_event, encode_event
from stepsnb.messages import cut_utf8
from stepsnb.outcome import EXIT_CODES, Outcome, worst
from stepsnb.suggest import unknown_name
from stepsnb.usage import Price, Usage


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Outcome.SUCCEEDED),
        ([Outcome.REUSED, Outcome.SKIPPED], Outcome.SUCCEEDED),
        ([Outcome.FAILED, Outcome.SUCCEEDED], Outcome.FAILED),
        ([Outcome.FAILED, Outcome.ERRORED], Outcome.ERRORED),
        ([Outcome.ABORTED, Outcome.ERRORED], Outcome.ABORTED),
    ],
)
def test_worst_class_wins(outcomes, expected):
    assert worst(outcomes) is expected


def test_exit_codes_are_those_scripts_rely_on():
    codes = [EXIT_CODES[o] for o in (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.ERRORED, Outcome.ABORTED)]
    assert codes == [0, 1, 2, 130]


def test_unknown_name_offers_the_nearest():
    assert unknown_name("tool", "read_fiel", ["run_shell", "read_file"]) == (
        "unknown tool `read_fiel` (did you mean `read_file`?); available: read_file, run_shell"
    )
    assert unknown_name("job", "x", []) == "unknown job `x`; available: none"


def test_event_survives_its_encoding_with_its_kind():
    event = Tool(run_id="R", step_id="s1", seq=3, at=1.5, phase="end", tool="read_file", ok=False)
    assert event.kind == "tool"
    assert decode_event(encode_event(event)) == event


def test_event_of_an_unknown_kind_is_refused():
    with pytest.raises(msgspec.DecodeError):
        decode_event(b'{"kind":"nonsense"}')


@given(st.text())
def test_any_text_survives_in_an_event(text):
    text = text.encode("utf-8", "replace").decode()
    assert decode_event(encode_event(Question(text=text))).text == text
    assert b"\n" not in encode_event(TextDelta(delta=text))


@given(st.text(), st.integers(0, 40))
def test_cut_text_fits_and_is_a_beginning(text, limit):
    cut = cut_utf8(text, limit)
    assert len(cut.encode("utf-8", "surrogatepass")) <= limit
    assert text.startswith(cut)


def test_price_counts_each_token_class_once():
    price = Price(input=Decimal(2), output=Decimal(8), cache_read=Decimal("0.2"))
    usage = Usage(input_tokens=3000, cached_input_tokens=9000, output_tokens=800, reasoning_tokens=600)
    assert price.cost_usd(usage) == Decimal("0.0142")


def test_class_without_a_price_of_its_own_costs_what_input_costs():
    usage = Usage(cached_input_tokens=500_000, cache_write_tokens=500_000)
    assert Price(input=Decimal(2), output=Decimal(8)).cost_usd(usage) == Decimal(2)


def test_usage_adds_up_class_by_class():
    total = Usage(input_tokens=1, output_tokens=2) + Usage(cached_input_tokens=3, cache_write_tokens=4)
    assert (total.prompt_tokens, total.total_tokens) == (8, 10)
