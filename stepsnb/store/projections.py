"""How a batch of events becomes rows: one statement a table, over the temporary table `batch`.

A field left out of an event's JSON has its default there. A value of an unexpected type becomes NULL, and what is
no event at all goes to `events` as a text, rather than holding up everything else.
"""

from typing import Final, NamedTuple


class Projection(NamedTuple):
    """A statement that fills a table from the events in `batch` that are of one of `kinds`."""

    kinds: frozenset[str]
    statement: str


CREATE_BATCH: Final = """
CREATE TEMP TABLE IF NOT EXISTS batch (
    writer VARCHAR, writer_seq BIGINT, payload VARCHAR,
    kind VARCHAR, run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ
)
"""

FILL_BATCH: Final = """
INSERT INTO batch
SELECT
    $writer, writer_seq, payload, coalesce(head.kind, ''), coalesce(head.run_id, ''), coalesce(head.step_id, ''),
    coalesce(head.seq, -1), to_timestamp(head."at")
FROM (
    SELECT
        *,
        CASE WHEN json_valid(payload) THEN from_json(payload, '{
            "kind": "VARCHAR", "run_id": "VARCHAR", "step_id": "VARCHAR", "seq": "BIGINT", "at": "DOUBLE"
        }') END AS head
    FROM (
        SELECT
            unnest(range($first_seq, $first_seq + len($payloads::VARCHAR[]))) AS writer_seq,
            unnest($payloads::VARCHAR[]) AS payload
    )
)
"""
"""Takes consecutive records of one `writer`: the number of the first, and the list of `payloads`."""

DROP_KNOWN: Final = """
DELETE FROM batch WHERE rowid IN (
    SELECT batch.rowid FROM batch SEMI JOIN events USING (run_id, seq) WHERE batch.run_id <> '' AND batch.seq >= 0
    UNION ALL
    SELECT row FROM (
        SELECT rowid AS row, row_number() OVER (PARTITION BY run_id, seq ORDER BY rowid) AS copy
        FROM batch WHERE run_id <> '' AND seq >= 0
    ) WHERE copy > 1
)
"""
"""Drops what was recorded again: a run and a number name one event, and the first record of it stands."""

DROP_REMOVED: Final = "DELETE FROM batch WHERE run_id IN (SELECT run_id FROM removed_runs)"
"""Drops what is still in spools of runs that were removed."""

BATCH_KINDS: Final = "SELECT DISTINCT kind FROM batch"
EMPTY_BATCH: Final = "DELETE FROM batch"

FILL_EVENTS: Final = """
INSERT INTO events BY NAME
SELECT
    run_id, seq, kind, created_at, step_id, writer, writer_seq,
    CASE WHEN kind <> '' THEN payload ELSE to_json(payload) END AS payload
FROM batch
"""

_RUN_STARTS: Final = """
INSERT INTO run_starts BY NAME
SELECT
    run_id, seq, created_at, writer, pipeline, job, forked_from, forked_at, coalesce(tags, '{}') AS tags, run_history
FROM (
    SELECT *, unnest(from_json(payload, '{
        "pipeline": "VARCHAR", "job": "VARCHAR", "forked_from": "VARCHAR", "forked_at": "VARCHAR", "tags": "JSON",
        "run_history": "BIGINT"
    }'))
    FROM batch WHERE kind IN ('run_started', 'run_resumed')
)
"""

_RUN_ENDS: Final = """
INSERT INTO run_ends BY NAME
SELECT
    run_id, seq, created_at, outcome, coalesce(error, 'left for run ' || forked_to) AS error,
    coalesce(duration_s, 0) AS duration_s
FROM (
    SELECT *, unnest(from_json(payload, '{
        "outcome": "VARCHAR", "error": "VARCHAR", "duration_s": "DOUBLE", "forked_to": "VARCHAR"
    }'))
    FROM batch WHERE kind IN ('run_finished', 'run_left')
)
"""

_STEP_STARTS: Final = """
INSERT INTO step_starts BY NAME
SELECT
    run_id, step_id, seq, created_at, parent_id, step_kind AS kind, name, coalesce(coordinates, '{}') AS coordinates,
    hash, coalesce(attempt, 1) AS attempt, agent, model, call_id
FROM (
    SELECT *, unnest(from_json(payload, '{
        "name": "VARCHAR", "step_kind": "VARCHAR", "parent_id": "VARCHAR", "coordinates": "JSON", "hash": "VARCHAR",
        "attempt": "BIGINT", "agent": "VARCHAR", "model": "VARCHAR", "call_id": "VARCHAR"
    }'))
    FROM batch WHERE kind = 'step_started'
)
"""

_STEP_ENDS: Final = """
INSERT INTO step_ends BY NAME
SELECT
    run_id, step_id, seq, created_at, step_kind AS kind, name,
    CASE WHEN kind = 'step_finished' THEN outcome WHEN reused THEN 'reused' ELSE 'skipped' END AS outcome,
    reason, coalesce(duration_s, 0) AS duration_s, verdict, note, response,
    coalesce(wrapped_up, FALSE) AS wrapped_up, fallback_model, output
FROM (
    SELECT *, unnest(from_json(payload, '{
        "name": "VARCHAR", "step_kind": "VARCHAR", "outcome": "VARCHAR", "reason": "VARCHAR", "reused": "BOOLEAN",
        "duration_s": "DOUBLE", "verdict": "VARCHAR", "note": "VARCHAR", "response": "VARCHAR",
        "wrapped_up": "BOOLEAN", "fallback_model": "VARCHAR", "output": "VARCHAR"
    }'))
    FROM batch WHERE kind IN ('step_finished', 'step_skipped')
)
"""

_MESSAGES: Final = """
INSERT INTO messages BY NAME
SELECT
    run_id, step_id, seq, created_at, coalesce(role, 'user') AS role, coalesce(text, '') AS text,
    coalesce(synthetic, FALSE) AS synthetic
FROM (
    SELECT *, unnest(from_json(payload, '{"role": "VARCHAR", "text": "VARCHAR", "synthetic": "BOOLEAN"}'))
    FROM batch WHERE kind = 'message'
)
"""

_TURNS: Final = """
INSERT INTO turns BY NAME
SELECT
    run_id, step_id, seq, created_at, coalesce(turn, 0) AS turn, model, finish_reason, text,
    coalesce(thinking, '') AS thinking, coalesce(tool_calls, '[]') AS tool_calls,
    list_filter(coalesce(marks, []), lambda mark: mark IS NOT NULL) AS marks, coalesce(synthetic, FALSE) AS synthetic
FROM (
    SELECT *, unnest(from_json(payload, '{
        "turn": "BIGINT", "model": "VARCHAR", "finish_reason": "VARCHAR", "text": "VARCHAR", "thinking": "VARCHAR",
        "tool_calls": "JSON", "marks": ["VARCHAR"], "synthetic": "BOOLEAN"
    }'))
    FROM batch WHERE kind = 'turn_finished'
)
"""

_REQUESTS: Final = """
INSERT INTO requests BY NAME
SELECT
    run_id, step_id, seq, created_at, coalesce(turn, 0) AS turn, coalesce(attempt, 1) AS attempt, model, status,
    error, retry_after_s, coalesce(input_tokens, 0) AS input_tokens,
    coalesce(cached_input_tokens, 0) AS cached_input_tokens, coalesce(cache_write_tokens, 0) AS cache_write_tokens,
    coalesce(output_tokens, 0) AS output_tokens, coalesce(reasoning_tokens, 0) AS reasoning_tokens,
    TRY_CAST(cost_usd AS DECIMAL(38, 12)) AS cost_usd, price_source, latency_s, first_token_s
FROM (
    SELECT *, unnest(from_json(payload, '{
        "turn": "BIGINT", "attempt": "BIGINT", "model": "VARCHAR", "status": "BIGINT", "error": "VARCHAR",
        "retry_after_s": "DOUBLE", "input_tokens": "BIGINT", "cached_input_tokens": "BIGINT",
        "cache_write_tokens": "BIGINT", "output_tokens": "BIGINT", "reasoning_tokens": "BIGINT",
        "cost_usd": "VARCHAR", "price_source": "VARCHAR", "latency_s": "DOUBLE", "first_token_s": "DOUBLE"
    }'))
    FROM batch WHERE kind = 'request'
)
"""

_TOOL_ENDS: Final = """
INSERT INTO tool_ends BY NAME
SELECT
    run_id, step_id, seq, created_at, coalesce(turn, 0) AS turn, coalesce(call_id, '') AS call_id, tool,
    coalesce(args, '') AS args, coalesce(result, '') AS result, coalesce(ok, TRUE) AS ok,
    coalesce(repaired, FALSE) AS repaired, coalesce(promoted, FALSE) AS promoted,
    coalesce(truncated, FALSE) AS truncated, spilled_to, duration_s, denied_by, code
FROM (
    SELECT *, unnest(from_json(payload, '{
        "phase": "VARCHAR", "turn": "BIGINT", "call_id": "VARCHAR", "tool": "VARCHAR", "args": "VARCHAR",
        "result": "VARCHAR", "ok": "BOOLEAN", "repaired": "BOOLEAN", "promoted": "BOOLEAN", "truncated": "BOOLEAN",
        "spilled_to": "VARCHAR", "duration_s": "DOUBLE", "denied_by": "VARCHAR", "code": "VARCHAR"
    }'))
    FROM batch WHERE kind = 'tool'
)
WHERE phase = 'end'
"""

_TOOL_STARTS: Final = """
INSERT INTO tool_starts BY NAME
WITH calls AS (
    SELECT
        run_id, step_id, seq, created_at, coalesce(phase, 'start') AS phase, coalesce(turn, 0) AS turn,
        coalesce(call_id, '') AS call_id, tool, coalesce(args, '') AS args, coalesce(repaired, FALSE) AS repaired,
        coalesce(promoted, FALSE) AS promoted
    FROM (
        SELECT *, unnest(from_json(payload, '{
            "phase": "VARCHAR", "turn": "BIGINT", "call_id": "VARCHAR", "tool": "VARCHAR", "args": "VARCHAR",
            "repaired": "BOOLEAN", "promoted": "BOOLEAN"
        }'))
        FROM batch WHERE kind = 'tool'
    )
)
SELECT * EXCLUDE (phase) FROM calls
ANTI JOIN (FROM calls WHERE phase = 'end') AS ended USING (run_id, step_id, turn, call_id)
WHERE phase = 'start'
"""

_QUESTION_EVENTS: Final = """
INSERT INTO question_events BY NAME
SELECT
    run_id, step_id, seq, created_at, coalesce(phase, 'asked') AS phase, coalesce(question_id, '') AS question_id,
    agent, text, coalesce(options, []) AS options, coalesce(options_required, FALSE) AS options_required, "default",
    to_timestamp(expires_at) AS expires_at, answer, source, answered_by
FROM (
    SELECT *, unnest(from_json(payload, '{
        "phase": "VARCHAR", "question_id": "VARCHAR", "agent": "VARCHAR", "text": "VARCHAR", "options": ["VARCHAR"],
        "options_required": "BOOLEAN", "default": "VARCHAR", "expires_at": "DOUBLE", "answer": "VARCHAR",
        "source": "VARCHAR", "answered_by": "VARCHAR"
    }'))
    FROM batch WHERE kind = 'question'
)
"""

PROJECTIONS: Final = (
    Projection(frozenset({"run_started", "run_resumed"}), _RUN_STARTS),
    Projection(frozenset({"run_finished", "run_left"}), _RUN_ENDS),
    Projection(frozenset({"step_started"}), _STEP_STARTS),
    Projection(frozenset({"step_finished", "step_skipped"}), _STEP_ENDS),
    Projection(frozenset({"message"}), _MESSAGES),
    Projection(frozenset({"turn_finished"}), _TURNS),
    Projection(frozenset({"request"}), _REQUESTS),
    Projection(frozenset({"tool"}), _TOOL_ENDS),
    Projection(frozenset({"tool"}), _TOOL_STARTS),
    Projection(frozenset({"question"}), _QUESTION_EVENTS),
)
"""What makes the tables besides `events` from a batch."""
