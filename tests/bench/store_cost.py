"""Queries over 1,000,000 stored requests through stepsnb against the same SQL in bare DuckDB, the file warm.

    python store_cost.py [--rounds 7] [--requests 1000000]

Prints one JSON line: for each query the median CPU and wall of both, in ms, and their ratios (the bar is 4). Both open
the file, ask, fetch a DataFrame and close; stepsnb also takes its lock and looks for what is new in its spools. The
rounds alternate. A run has 10 steps and a step 10 requests.
"""
import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import duckdb
import pandas  # noqa: F401 - imported before anything is measured

import stepsnb
from stepsnb.store import Store
from stepsnb.store.frames import cost, runs

PER_DAY = (
    "SELECT model, created_at::DATE AS day, count(*) AS requests, sum(cost_usd) AS cost_usd, "
    "sum(input_tokens)::BIGINT AS input_tokens FROM requests GROUP BY ALL ORDER BY day, model"
)
FILL = """
INSERT INTO run_starts BY NAME SELECT 'run' || i AS run_id, 0 AS seq, 'p' AS pipeline, 'job' || i % 7 AS job, 'w' AS writer,
    TIMESTAMPTZ '2026-01-01' + INTERVAL 10 MINUTE * i AS created_at, '{}' AS tags FROM range($runs) t(i);
INSERT INTO run_ends BY NAME SELECT 'run' || i AS run_id, 999 AS seq, 'succeeded' AS outcome, 60.0 AS duration_s,
    TIMESTAMPTZ '2026-01-01' + INTERVAL 10 MINUTE * i + INTERVAL 1 MINUTE AS created_at FROM range($runs) t(i);
INSERT INTO step_starts BY NAME SELECT 'run' || i // 10 AS run_id, 's' || i % 10 AS step_id, 20 * (i % 10) + 1 AS seq,
    'agent' AS kind, 'step' || i % 10 AS name, 'agent' || i % 10 AS agent, 'model' || i % 5 AS model, '{}' AS coordinates,
    1 AS attempt, TIMESTAMPTZ '2026-01-01' + INTERVAL 1 MINUTE * i AS created_at FROM range($runs * 10) t(i);
INSERT INTO step_ends BY NAME SELECT 'run' || i // 10 AS run_id, 's' || i % 10 AS step_id, 20 * (i % 10) + 19 AS seq,
    'agent' AS kind, 'step' || i % 10 AS name, 'succeeded' AS outcome, 6.0 AS duration_s, FALSE AS wrapped_up,
    TIMESTAMPTZ '2026-01-01' + INTERVAL 1 MINUTE * i AS created_at FROM range($runs * 10) t(i);
INSERT INTO requests BY NAME SELECT 'run' || i // 100 AS run_id, 's' || i // 10 % 10 AS step_id, i % 100 + 2 AS seq,
    i % 10 AS turn, 1 AS attempt, 'model' || i // 10 % 5 AS model, 200 AS status, 900 + i % 300 AS input_tokens,
    0 AS cached_input_tokens, 0 AS cache_write_tokens, i % 90 AS output_tokens, 0 AS reasoning_tokens,
    (i % 977)::DECIMAL(38, 12) / 100000 AS cost_usd, 'table' AS price_source, 1.5 AS latency_s, 0.3 AS first_token_s,
    TIMESTAMPTZ '2026-01-01' + INTERVAL 6 SECOND * i AS created_at FROM range($runs * 100) t(i);
INSERT INTO events BY NAME SELECT run_id, seq, 'step_started' AS kind, created_at, step_id, 'w' AS writer, 0 AS writer_seq,
    json_object('kind', 'step_started', 'index', step_id[2:]::INT, 'name', name) AS payload FROM step_starts
"""


def columns_of(frame):
    return ", ".join(f'"{name}"' for name in frame.COLUMNS)


def bare(path, query):
    db = duckdb.connect(str(path))
    db.execute("SET TimeZone = 'UTC'")
    frame = db.execute(query).df()
    db.close()
    return frame


def measure(call):
    cpu, wall = time.process_time(), time.perf_counter()
    rows = len(call())
    return time.process_time() - cpu, time.perf_counter() - wall, rows


def main(rounds, requests):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        stepsnb.load("jobs: [{name: j, plan: [{task: t, run: 'true'}]}]").run(store=root)
        with Store(root).session() as db:
            for statement in FILL.split(";"):
                db.execute(statement.replace("$runs", str(requests // 100)))
        pairs = {
            "cost per model and day": (lambda: stepsnb.sql(PER_DAY, store=root), PER_DAY),
            "runs()": (
                lambda: stepsnb.runs(store=root),
                f"SELECT {columns_of(runs)} FROM runs ORDER BY started_at DESC NULLS LAST, run_id DESC",
            ),
            "cost()": (
                lambda: stepsnb.cost(store=root),
                f"SELECT {columns_of(cost)} FROM step_costs ORDER BY started_at DESC NULLS LAST, run_id DESC, seq",
            ),
        }
        for name, (ours, query) in pairs.items():
            both = {"ours": [], "bare": []}
            for _ in range(rounds + 1):  # the first one warms up
                both["bare"].append(measure(lambda: bare(root / "store.duckdb", query)))  # noqa: B023
                both["ours"].append(measure(ours))
            medians = {
                who: [statistics.median(each[i] for each in measured[1:]) for i in (0, 1)] for who, measured in both.items()
            }
            found[name] = {
                "rows": both["ours"][-1][2],
                "cpu_ms": [round(1000 * medians["ours"][0]), round(1000 * medians["bare"][0])],
                "wall_ms": [round(1000 * medians["ours"][1]), round(1000 * medians["bare"][1])],
                "ratio_cpu": round(medians["ours"][0] / medians["bare"][0], 2),
                "ratio_wall": round(medians["ours"][1] / medians["bare"][1], 2),
            }
    return {"requests": requests, "rounds": rounds, **found}


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--requests", type=int, default=1_000_000)
    args = p.parse_args()
    print(json.dumps(main(args.rounds, args.requests)))
