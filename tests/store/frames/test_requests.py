from decimal import Decimal
from pathlib import Path

import pandas as pd

from stepsnb.store import Store, requests_df
from tests.support.recorded import priced, record


def test_a_request_has_its_tokens_in_disjoint_classes(root: Path, store: Store) -> None:
    record(root, "r1", [priced()])

    row = requests_df(store).iloc[0]

    classes = ["input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"]
    assert row[classes].tolist() == [3_000, 9_000, 0, 800, 600]
    assert (row["cost_usd"], row["price_source"], row["status"]) == (0.0142, "pipeline", 200)


def test_an_unknown_price_is_nan_and_not_zero(root: Path, store: Store) -> None:
    record(root, "r1", [priced(cost_usd=None)])

    assert pd.isna(requests_df(store)["cost_usd"].iloc[0])


def test_a_request_without_a_response_has_no_status(root: Path, store: Store) -> None:
    record(root, "r1", [priced(status=None, error="connection refused")])

    assert requests_df(store)[["status", "error"]].values.tolist() == [[pd.NA, "connection refused"]]


def test_money_is_exact_in_sql(root: Path, store: Store) -> None:
    record(root, "r1", [priced(turn, cost_usd="1.5E-8") for turn in range(1, 11)] + [priced(11, cost_usd="0.1")])

    with store.session() as db:
        assert db.execute("SELECT sum(cost_usd) FROM requests").fetchone() == (Decimal("0.100000150000"),)
