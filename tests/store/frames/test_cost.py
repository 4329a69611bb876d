from pathlib import Path

import pandas as pd
import pytest

from stepsnb.events import Request, RunFinished, RunStarted, StepFinished, StepStarted
from stepsnb.store import Store, cost_df
from tests.support.recorded import BEGAN, conversation, delegation, priced, record


def test_a_row_is_an_agent_step_and_model(root: Path, store: Store) -> None:
    record(root, "r1", conversation(turns=1))

    assert cost_df(store).to_dict("records") == [
        {
            "run_id": "r1",
            "job": "hello",
            "step": "write",
            "agent": "writer",
            "model": "m/large",
            "requests": 2,
            "input_tokens": 6_000,
            "cached_input_tokens": 18_000,
            "cache_write_tokens": 0,
            "output_tokens": 1_600,
            "cost_usd": pytest.approx(0.0284),
            "price_source": "pipeline",
            "incomplete": False,
            "step_id": "s1",
            "kind": "agent",
            "parent_id": pytest.approx(float("nan"), nan_ok=True),
        }
    ]


def test_cost_comes_newest_run_first_and_of_one_run_when_asked(root: Path, store: Store) -> None:
    record(root, "old", conversation())
    record(root, "new", conversation(), began=BEGAN + 1_000)

    assert cost_df(store)["run_id"].tolist() == ["new", "old"]
    assert cost_df(store, "old")["run_id"].tolist() == ["old"]


def test_a_sum_over_an_unknown_price_is_marked_incomplete(root: Path, store: Store) -> None:
    record(root, "r1", [priced(1), priced(2, cost_usd=None)])

    assert cost_df(store)[["cost_usd", "incomplete", "price_source"]].values.tolist() == [[0.0142, True, "pipeline"]]


def test_a_sum_of_unknown_prices_only_is_nan(root: Path, store: Store) -> None:
    record(root, "r1", [priced(1, cost_usd=None)])

    (row,) = cost_df(store).to_dict("records")
    assert (pd.isna(row["cost_usd"]), row["incomplete"], row["requests"]) == (True, True, 1)


@pytest.mark.parametrize("status", [401, None])
def test_a_request_that_was_refused_or_reached_nobody_costs_nothing(
    root: Path, store: Store, status: int | None
) -> None:
    nothing = {"cost_usd": None, "input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0}
    refused = priced(status=status, error="connection refused", **nothing)
    record(root, "r1", [refused])

    assert cost_df(store)[["cost_usd", "incomplete"]].values.tolist() == [[0.0, False]]


def test_tokens_without_a_response_may_have_been_billed(root: Path, store: Store) -> None:
    record(root, "r1", [priced(status=None, error="connection lost", cost_usd=None)])

    assert cost_df(store)["incomplete"].tolist() == [True]


def test_a_reply_that_broke_off_may_have_been_billed(root: Path, store: Store) -> None:
    broken = priced(status=200, error="connection lost", cost_usd=None, input_tokens=0, cached_input_tokens=0)
    record(root, "r1", [broken])

    assert cost_df(store)["incomplete"].tolist() == [True]


def test_models_are_rows_of_their_own_and_price_sources_are_joined(root: Path, store: Store) -> None:
    record(root, "r1", [priced(1), priced(2, price_source="genai-prices"), priced(3, model="m/small")])

    assert cost_df(store)[["model", "price_source"]].values.tolist() == [
        ["m/large", "genai-prices, pipeline"],
        ["m/small", "pipeline"],
    ]


def test_steps_without_requests_cost_nothing_and_have_no_row(root: Path, store: Store) -> None:
    step = {"step_id": "s1", "name": "lint", "step_kind": "task"}
    record(root, "r1", [RunStarted(job="j"), StepStarted(**step), StepFinished(**step), RunFinished()])

    assert len(cost_df(store)) == 0


def test_a_sub_agents_requests_are_its_own_and_part_of_the_run(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    frame = cost_df(store, "r1")

    assert frame[["step_id", "kind", "agent", "model", "requests"]].values.tolist() == [
        ["s1", "agent", "writer", "m/large", 2],
        ["s1.1", "sub_agent", "summarizer", "m/small", 1],
    ]
    assert frame["cost_usd"].sum() == pytest.approx(0.0284)


def test_rows_are_in_the_order_of_the_plan_whoever_was_faster(root: Path, store: Store) -> None:
    def begun(step_id: str, name: str, index: int, **fields: object) -> StepStarted:
        return StepStarted(step_id=step_id, name=name, step_kind="agent", index=index, agent=name, **fields)

    def spent(step_id: str) -> Request:
        request = priced()
        request.step_id = step_id
        return request

    events = [
        RunStarted(job="job"),
        begun("s1", "matrix", 1),
        begun("s2", "matrix [n=2]", 1, parent_id="s1"),
        begun("s3", "matrix [n=1]", 1, parent_id="s1"),
        begun("s3.1", "helper", 0, parent_id="s3"),
        *(spent(step_id) for step_id in ("s3.1", "s3", "s2")),
        begun("s4", "late", 3),
        begun("s5", "early", 2),
        *(spent(step_id) for step_id in ("s4", "s5", "s9")),
        begun("s6", "matrix [n=2]", 1, parent_id="s6"),
        spent("s6"),
    ]
    record(root, "r1", events)

    assert cost_df(store, "r1")["step_id"].tolist() == ["s2", "s3", "s3.1", "s6", "s5", "s4", "s9"]
    assert cost_df(store)["step_id"].tolist() == cost_df(store, "r1")["step_id"].tolist()
