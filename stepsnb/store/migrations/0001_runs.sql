-- Tables are filled by ingest and only grow; what has several events in its life (a run, a step, a question, a
-- tool call cut by a crash) is a view over their rows, in which the latest wins.

CREATE TABLE spools (
    segment VARCHAR PRIMARY KEY,
    writer VARCHAR,
    position BIGINT,       -- everything before this byte is in the tables
    next_seq BIGINT,
    is_closed BOOLEAN      -- its writer is gone and all of it has been read
);

CREATE TABLE spool_damage (
    segment VARCHAR,
    position BIGINT,
    end_position BIGINT,
    events_lost BIGINT,
    reason VARCHAR,
    found_at TIMESTAMPTZ
);

CREATE TABLE events (
    run_id VARCHAR,
    seq BIGINT,
    kind VARCHAR,
    created_at TIMESTAMPTZ,
    step_id VARCHAR,
    payload JSON,
    writer VARCHAR,
    writer_seq BIGINT
);

CREATE TABLE run_starts (
    run_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ, writer VARCHAR,
    pipeline VARCHAR, job VARCHAR, forked_from VARCHAR, tags JSON
);

CREATE TABLE run_ends (
    run_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    outcome VARCHAR, error VARCHAR, duration_s DOUBLE
);

CREATE TABLE step_starts (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    parent_id VARCHAR, kind VARCHAR, name VARCHAR, coordinates JSON, hash VARCHAR, attempt BIGINT,
    agent VARCHAR, model VARCHAR
);

CREATE TABLE step_ends (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    kind VARCHAR, name VARCHAR, outcome VARCHAR, reason VARCHAR, duration_s DOUBLE,
    verdict VARCHAR, note VARCHAR, response VARCHAR, wrapped_up BOOLEAN, fallback_model VARCHAR
);

CREATE TABLE messages (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    role VARCHAR, text VARCHAR, synthetic BOOLEAN
);

CREATE TABLE turns (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    turn BIGINT, model VARCHAR, finish_reason VARCHAR, text VARCHAR, thinking VARCHAR, tool_calls JSON
);

CREATE TABLE requests (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    turn BIGINT, attempt BIGINT, model VARCHAR, status BIGINT, error VARCHAR, retry_after_s DOUBLE,
    input_tokens BIGINT, cached_input_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT,
    reasoning_tokens BIGINT,
    cost_usd DECIMAL(38, 12),   -- exact for prices of up to six decimals a million tokens
    price_source VARCHAR, latency_s DOUBLE, first_token_s DOUBLE
);

CREATE TABLE tool_ends (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    turn BIGINT, call_id VARCHAR, tool VARCHAR, args VARCHAR, result VARCHAR, ok BOOLEAN, repaired BOOLEAN,
    promoted BOOLEAN, truncated BOOLEAN, spilled_to VARCHAR, duration_s DOUBLE, denied_by VARCHAR
);

-- Only those whose end was not read in the same batch, so it stays small.
CREATE TABLE tool_starts (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    turn BIGINT, call_id VARCHAR, tool VARCHAR, args VARCHAR, repaired BOOLEAN, promoted BOOLEAN
);

CREATE TABLE question_events (
    run_id VARCHAR, step_id VARCHAR, seq BIGINT, created_at TIMESTAMPTZ,
    phase VARCHAR, question_id VARCHAR, agent VARCHAR, text VARCHAR, options VARCHAR[], options_required BOOLEAN,
    "default" VARCHAR, expires_at TIMESTAMPTZ, answer VARCHAR, source VARCHAR, answered_by VARCHAR
);

CREATE VIEW runs AS
WITH starts AS (
    SELECT DISTINCT ON (run_id) *, min(created_at) OVER (PARTITION BY run_id) AS started_at
    FROM run_starts ORDER BY run_id, seq DESC
),
ends AS (
    SELECT DISTINCT ON (run_id) run_ends.*
    FROM run_ends LEFT JOIN starts USING (run_id)
    WHERE starts.seq IS NULL OR run_ends.seq > starts.seq   -- a resumed run has no end yet
    ORDER BY run_id, run_ends.seq DESC
)
SELECT
    run_id, pipeline, job, outcome,
    CASE
        WHEN outcome IS NOT NULL THEN 'finished'
        WHEN writer IN (SELECT writer FROM spools WHERE NOT is_closed) THEN 'running'
        ELSE 'interrupted'
    END AS state,
    started_at, ends.created_at AS finished_at, duration_s, error, forked_from, tags
FROM starts FULL JOIN ends USING (run_id);

CREATE VIEW steps AS
WITH starts AS (
    SELECT DISTINCT ON (run_id, step_id) *, min(created_at) OVER (PARTITION BY run_id, step_id) AS started_at
    FROM step_starts ORDER BY run_id, step_id, seq DESC
),
ends AS (
    SELECT DISTINCT ON (run_id, step_id) step_ends.*
    FROM step_ends LEFT JOIN starts USING (run_id, step_id)
    WHERE starts.seq IS NULL OR step_ends.seq > starts.seq
    ORDER BY run_id, step_id, step_ends.seq DESC
)
SELECT
    run_id, step_id, parent_id, coalesce(starts.kind, ends.kind) AS kind, coalesce(starts.name, ends.name) AS name,
    coordinates, hash, agent, model, outcome, attempt, reason, started_at, ends.created_at AS finished_at,
    duration_s, verdict, note, response, wrapped_up, fallback_model, coalesce(starts.seq, ends.seq) AS seq
FROM starts FULL JOIN ends USING (run_id, step_id);

CREATE VIEW tool_calls AS
SELECT
    run_id, step_id, turn, call_id, tool, args, result, ok, repaired, promoted, truncated, spilled_to,
    duration_s, denied_by, created_at, seq
FROM tool_ends
UNION ALL
SELECT
    run_id, step_id, turn, call_id, tool, args, NULL, NULL, repaired, promoted, NULL, NULL,
    NULL, NULL, created_at, seq
FROM tool_starts
ANTI JOIN tool_ends USING (run_id, step_id, turn, call_id);

CREATE VIEW questions AS
WITH asked AS (
    SELECT DISTINCT ON (run_id, question_id) * FROM question_events
    WHERE phase = 'asked' ORDER BY run_id, question_id, seq
),
settled AS (
    SELECT DISTINCT ON (run_id, question_id) * FROM question_events
    WHERE phase <> 'asked' ORDER BY run_id, question_id, seq DESC
)
SELECT
    question_id AS id, run_id, coalesce(asked.step_id, settled.step_id) AS step_id,
    coalesce(nullif(asked.agent, ''), settled.agent) AS agent,
    coalesce(nullif(asked.text, ''), settled.text) AS question,
    coalesce(asked.options, settled.options) AS options,
    coalesce(asked.options_required, settled.options_required) AS options_required,
    coalesce(asked."default", settled."default") AS "default",
    asked.created_at AS asked_at, asked.expires_at,
    CASE WHEN settled.phase = 'answered' THEN settled.created_at END AS answered_at,
    settled.answer, settled.source, settled.answered_by, coalesce(asked.seq, settled.seq) AS seq
FROM asked FULL JOIN settled USING (run_id, question_id);

-- A request is unpriced when it may have been billed: a refused one that used no tokens was not.
CREATE VIEW step_costs AS
WITH spent AS (
    SELECT
        run_id, step_id, model, price_source, min(seq) AS seq, count(*) AS requests,
        sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
        sum(cache_write_tokens) AS cache_write_tokens, sum(output_tokens) AS output_tokens,
        sum(cost_usd) AS cost_usd,
        bool_or(cost_usd IS NULL AND (
            error IS NULL OR status BETWEEN 200 AND 299
            OR input_tokens + cached_input_tokens + cache_write_tokens + output_tokens > 0
        )) AS incomplete
    FROM requests
    GROUP BY run_id, step_id, model, price_source
),
totals AS (
    SELECT
        run_id, step_id, model, min(seq) AS seq, sum(requests)::BIGINT AS requests,
        sum(input_tokens)::BIGINT AS input_tokens, sum(cached_input_tokens)::BIGINT AS cached_input_tokens,
        sum(cache_write_tokens)::BIGINT AS cache_write_tokens, sum(output_tokens)::BIGINT AS output_tokens,
        sum(cost_usd) AS cost_usd, string_agg(price_source, ', ' ORDER BY price_source) AS price_source,
        bool_or(incomplete) AS incomplete
    FROM spent
    GROUP BY run_id, step_id, model
)
SELECT
    totals.run_id, runs.job, steps.name AS step, steps.agent, totals.model, totals.requests,
    totals.input_tokens, totals.cached_input_tokens, totals.cache_write_tokens, totals.output_tokens,
    CASE WHEN totals.incomplete THEN totals.cost_usd ELSE coalesce(totals.cost_usd, 0) END AS cost_usd,
    totals.price_source, totals.incomplete, runs.started_at, totals.seq
FROM totals
LEFT JOIN runs ON runs.run_id = totals.run_id
LEFT JOIN steps ON steps.run_id = totals.run_id AND steps.step_id = totals.step_id;

CREATE VIEW cost AS SELECT * EXCLUDE (started_at, seq) FROM step_costs;

CREATE VIEW transcript AS
WITH cut AS (   -- replies that never came to their end: what had been streamed of them
    SELECT
        run_id, step_id, min(seq) AS seq, min(created_at) AS created_at, (payload ->> 'turn')::BIGINT AS turn,
        string_agg(payload ->> 'text', '' ORDER BY seq) AS text
    FROM events WHERE kind = 'text_chunk'
    GROUP BY run_id, step_id, (payload ->> 'turn')::BIGINT
),
entries AS (
    SELECT
        run_id, step_id, seq, created_at, role, NULL::BIGINT AS turn, text, NULL::VARCHAR AS thinking,
        NULL::VARCHAR AS tool, NULL::VARCHAR AS call_id, NULL::VARCHAR AS args, NULL::JSON AS tool_calls,
        NULL::BOOLEAN AS ok, FALSE AS repaired, FALSE AS truncated, synthetic, FALSE AS is_cut
    FROM messages
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'assistant', turn, text, thinking,
        NULL, NULL, NULL, tool_calls, NULL, FALSE, FALSE, FALSE, FALSE
    FROM turns
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'tool', turn, result, NULL,
        tool, call_id, args, NULL, ok, repaired, truncated, FALSE, FALSE
    FROM tool_ends
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'assistant', turn, text, NULL,
        NULL, NULL, NULL, NULL, NULL, FALSE, FALSE, FALSE, TRUE
    FROM cut ANTI JOIN turns USING (run_id, step_id, turn)
)
SELECT
    entries.run_id, entries.step_id, steps.name AS step, entries.seq, entries.role, entries.turn, entries.text,
    entries.thinking, entries.tool, entries.call_id, entries.args, entries.tool_calls, entries.ok,
    entries.repaired, entries.truncated, entries.synthetic, entries.is_cut, entries.created_at
FROM entries
LEFT JOIN steps ON steps.run_id = entries.run_id AND steps.step_id = entries.step_id;
