"""What the requests of a run cost together."""

from decimal import Decimal

import pytest

from stepsnb.events import MessageAdded, Request
from stepsnb.run import total_cost_usd, total_usage


def test_costs_of_all_requests_add_up_exactly():
    events = (Request(cost_usd="0.1"), MessageAdded(text="x"), Request(cost_usd="0.2"))
    assert total_cost_usd(events) == Decimal("0.3")


def test_run_without_requests_costs_nothing():
    assert total_cost_usd(()) == 0


def test_unknown_price_of_one_makes_the_whole_unknown():
    assert total_cost_usd((Request(cost_usd="0.1"), Request())) is None


def test_failed_request_that_was_billed_counts():
    assert total_cost_usd((Request(cost_usd="0.1"), Request(error="lost", status=200, cost_usd="0.2"))) == Decimal(
        "0.3"
    )


@pytest.mark.parametrize("request_", [Request(error="refused", status=429), Request(error="nothing answers")])
def test_refused_request_hides_no_cost(request_):
    assert total_cost_usd((Request(cost_usd="0.1"), request_)) == Decimal("0.1")


@pytest.mark.parametrize(
    "request_", [Request(error="lost after output", status=200), Request(error="odd", status=500, output_tokens=3)]
)
def test_failed_request_that_may_have_been_billed_makes_the_whole_unknown(request_):
    assert total_cost_usd((Request(cost_usd="0.1"), request_)) is None


def test_tokens_of_failed_requests_count_too():
    assert total_usage((Request(input_tokens=5), Request(error="lost", output_tokens=2))).total_tokens == 7
