-- What a deep conversation leaves: marks of replies, typed output, sub-agents behind the calls they answer, and what
-- was tried again, summarised, repeated or cut on the way.

ALTER TABLE turns ADD COLUMN marks VARCHAR[] DEFAULT [];
ALTER TABLE turns ADD COLUMN synthetic BOOLEAN DEFAULT FALSE;   -- calls that no model made
ALTER TABLE tool_ends ADD COLUMN code VARCHAR;
ALTER TABLE step_starts ADD COLUMN call_id VARCHAR;   -- the call a sub-agent answers
ALTER TABLE step_ends ADD COLUMN output VARCHAR;      -- JSON

CREATE OR REPLACE VIEW steps AS
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
    duration_s, verdict, note, response, wrapped_up, fallback_model, coalesce(starts.seq, ends.seq) AS seq,
    call_id, output
FROM starts FULL JOIN ends USING (run_id, step_id);

CREATE OR REPLACE VIEW tool_calls AS
SELECT
    run_id, step_id, turn, call_id, tool, args, result, ok, repaired, promoted, truncated, spilled_to,
    duration_s, denied_by, created_at, seq, code
FROM tool_ends
UNION ALL
SELECT
    run_id, step_id, turn, call_id, tool, args, NULL, NULL, repaired, promoted, NULL, NULL,
    NULL, NULL, created_at, seq, NULL
FROM tool_starts
ANTI JOIN tool_ends USING (run_id, step_id, turn, call_id);

CREATE VIEW synthetic_calls AS
SELECT DISTINCT run_id, step_id, turn, call ->> 'id' AS call_id
FROM (
    SELECT run_id, step_id, turn, unnest(from_json(tool_calls, '["JSON"]')) AS call FROM turns WHERE synthetic
);

CREATE VIEW retries AS
SELECT
    run_id, step_id, seq, created_at, coalesce(effect, 'llm') AS effect, coalesce(retry_kind, 'replay') AS retry_kind,
    coalesce(turn, 0) AS turn, call_id, coalesce(attempt, 0) AS attempt, coalesce(max_attempts, 0) AS max_attempts,
    coalesce(reason, '') AS reason, code, coalesce(wait_s, 0) AS wait_s
FROM (
    SELECT *, unnest(from_json(payload, '{
        "effect": "VARCHAR", "retry_kind": "VARCHAR", "turn": "BIGINT", "call_id": "VARCHAR", "attempt": "BIGINT",
        "max_attempts": "BIGINT", "reason": "VARCHAR", "code": "VARCHAR", "wait_s": "DOUBLE"
    }'))
    FROM events WHERE kind = 'retry'
);

-- One row each: an end with the start before it, or a start that nothing came of.
CREATE VIEW compactions AS
WITH phases AS (
    SELECT
        run_id, step_id, seq, created_at, coalesce(phase, 'start') AS phase, coalesce(auto, TRUE) AS auto,
        coalesce(turn, 0) AS turn, coalesce("before", 0) AS "before", "after", coalesce(kept, 0) AS kept, summary, error
    FROM (
        SELECT *, unnest(from_json(payload, '{
            "phase": "VARCHAR", "auto": "BOOLEAN", "turn": "BIGINT", "before": "BIGINT", "after": "BIGINT",
            "kept": "BIGINT", "summary": "VARCHAR", "error": "VARCHAR"
        }'))
        FROM events WHERE kind = 'compaction'
    )
),
paired AS (
    SELECT
        *, lead(phase) OVER conversation AS next_phase, lag(phase) OVER conversation AS last_phase,
        lag(created_at) OVER conversation AS last_at
    FROM phases
    WINDOW conversation AS (PARTITION BY run_id, step_id ORDER BY seq)
)
SELECT
    run_id, step_id, seq, CASE WHEN phase = 'start' THEN created_at WHEN last_phase = 'start' THEN last_at END AS started_at,
    CASE WHEN phase = 'end' THEN created_at END AS finished_at,
    auto, turn, "before", "after", kept, summary, error
FROM paired
WHERE phase = 'end' OR next_phase IS DISTINCT FROM 'end';

CREATE VIEW loop_warnings AS
SELECT
    run_id, step_id, seq, created_at, coalesce(turn, 0) AS turn, tool, coalesce("count", 0) AS "count",
    coalesce(text, '') AS text
FROM (
    SELECT *, unnest(from_json(payload, '{
        "turn": "BIGINT", "tool": "VARCHAR", "count": "BIGINT", "text": "VARCHAR"
    }'))
    FROM events WHERE kind = 'loop_warning'
);

CREATE VIEW context_truncations AS
SELECT
    run_id, step_id, seq, created_at, coalesce(turn, 0) AS turn, coalesce(sent, 0) AS sent,
    coalesce(reported, 0) AS reported
FROM (
    SELECT *, unnest(from_json(payload, '{"turn": "BIGINT", "sent": "BIGINT", "reported": "BIGINT"}'))
    FROM events WHERE kind = 'context_truncated'
);

CREATE VIEW nudges AS
SELECT
    run_id, step_id, seq, created_at, coalesce(about, 'owed') AS about, coalesce(owed, []) AS owed,
    coalesce(text, '') AS text
FROM (
    SELECT *, unnest(from_json(payload, '{"about": "VARCHAR", "owed": ["VARCHAR"], "text": "VARCHAR"}'))
    FROM events WHERE kind = 'nudge'
);

-- Every count adds up over runs. What is wrong with a reply is counted once, whoever says it: its marks, its calls,
-- or an event about it.
CREATE VIEW model_runs AS
WITH turn_models AS (
    SELECT run_id, step_id, turn, min(nullif(model, '')) AS model
    FROM (
        SELECT run_id, step_id, turn, model FROM turns UNION ALL SELECT run_id, step_id, turn, model FROM requests
    )
    GROUP BY run_id, step_id, turn
),
calls AS (
    FROM tool_calls ANTI JOIN synthetic_calls USING (run_id, step_id, turn, call_id)
),
marked AS (
    SELECT run_id, step_id, turn, unnest(marks) AS mark FROM turns WHERE NOT synthetic
    UNION
    SELECT run_id, step_id, turn, 'truncated' FROM turns WHERE finish_reason = 'length'
    UNION
    SELECT run_id, step_id, turn, 'repaired' FROM calls WHERE repaired
    UNION
    SELECT run_id, step_id, turn, 'promoted' FROM calls WHERE promoted
    UNION
    SELECT run_id, step_id, CASE WHEN turn = 0 THEN -seq ELSE turn END, 'looped' FROM loop_warnings
    UNION
    SELECT run_id, step_id, CASE WHEN turn = 0 THEN -seq ELSE turn END, 'context_truncated' FROM context_truncations
),
-- One row for each thing that is counted: which column it counts in.
counted AS (
    SELECT run_id, step_id, turn, nullif(model, '') AS model, 'request' AS what FROM requests
    UNION ALL
    SELECT run_id, step_id, turn, nullif(model, ''), 'failed_request' FROM requests WHERE error IS NOT NULL
    UNION ALL
    SELECT run_id, step_id, turn, NULL, 'retry' FROM retries WHERE effect = 'llm'
    UNION ALL
    SELECT run_id, step_id, turn, nullif(model, ''), 'reply' FROM turns WHERE NOT synthetic
    UNION ALL
    SELECT run_id, step_id, turn, NULL, 'tool_call' FROM calls
    UNION ALL
    SELECT run_id, step_id, turn, NULL, 'failed_tool_call' FROM calls WHERE NOT ok
    UNION ALL
    SELECT DISTINCT run_id, step_id, turn, NULL, 'marked' FROM marked
    UNION ALL
    SELECT run_id, step_id, turn, NULL, mark FROM marked
),
named AS (
    SELECT counted.run_id, coalesce(counted.model, turn_models.model, nullif(steps.model, '')) AS model, counted.what
    FROM counted
    LEFT JOIN turn_models USING (run_id, step_id, turn)
    LEFT JOIN steps USING (run_id, step_id)
)
SELECT
    run_id, model,
    count(*) FILTER (what = 'request') AS requests, count(*) FILTER (what = 'failed_request') AS failed_requests,
    count(*) FILTER (what = 'retry') AS retries, count(*) FILTER (what = 'reply') AS replies,
    count(*) FILTER (what = 'tool_call') AS tool_calls,
    count(*) FILTER (what = 'failed_tool_call') AS failed_tool_calls,
    count(*) FILTER (what = 'marked') AS marked,
    count(*) FILTER (what = 'repaired') AS repaired, count(*) FILTER (what = 'promoted') AS promoted,
    count(*) FILTER (what = 'lost') AS lost, count(*) FILTER (what = 'looped') AS looped,
    count(*) FILTER (what = 'truncated') AS truncated, count(*) FILTER (what = 'dropped') AS dropped,
    count(*) FILTER (what = 'empty') AS empty, count(*) FILTER (what = 'no_finish_reason') AS no_finish_reason,
    count(*) FILTER (what = 'no_usage') AS no_usage, count(*) FILTER (what = 'ids_replaced') AS ids_replaced,
    count(*) FILTER (what = 'context_truncated') AS context_truncated
FROM named
GROUP BY run_id, model;

CREATE MACRO model_report(wanted) AS TABLE
SELECT
    *, failed_requests / nullif(requests, 0) AS failed_request_rate,
    failed_tool_calls / nullif(tool_calls, 0) AS failed_tool_call_rate, marked / nullif(replies, 0) AS marked_rate
FROM (
    SELECT model, sum(COLUMNS(* EXCLUDE (run_id, model)))::BIGINT
    FROM model_runs WHERE wanted IS NULL OR run_id = wanted
    GROUP BY model
);

CREATE VIEW models AS FROM model_report(NULL);

CREATE OR REPLACE VIEW step_costs AS
WITH spent AS (
    SELECT
        run_id, step_id, model, price_source, min(seq) AS seq, count(*) AS requests,
        sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
        sum(cache_write_tokens) AS cache_write_tokens, sum(output_tokens) AS output_tokens,
        sum(cost_usd) AS cost_usd,
        -- A request is unpriced when it may have been billed: a refused one that used no tokens was not.
        bool_or(cost_usd IS NULL AND (
            error IS NULL OR coalesce(status BETWEEN 200 AND 299, FALSE)
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
    totals.price_source, totals.incomplete, totals.step_id, steps.kind, steps.parent_id, runs.started_at, totals.seq
FROM totals
LEFT JOIN runs ON runs.run_id = totals.run_id
LEFT JOIN steps ON steps.run_id = totals.run_id AND steps.step_id = totals.step_id;

CREATE OR REPLACE VIEW cost AS SELECT * EXCLUDE (started_at, seq) FROM step_costs;

-- How deep a conversation lies below its step; bounded, for a record that says it is its own parent.
CREATE VIEW step_depths AS
WITH RECURSIVE below AS (
    SELECT run_id, step_id, 0 AS depth FROM steps WHERE kind IS DISTINCT FROM 'sub_agent'
    UNION ALL
    SELECT steps.run_id, steps.step_id, below.depth + 1
    FROM steps JOIN below ON steps.run_id = below.run_id AND steps.parent_id = below.step_id
    WHERE steps.kind = 'sub_agent' AND below.depth < 100
)
SELECT run_id, step_id, min(depth)::BIGINT AS depth FROM below GROUP BY run_id, step_id;

-- `reply_seq` and `call_number` say where a call stands: calls of one reply may end in any order.
CREATE VIEW trajectory AS
WITH asked AS (
    SELECT
        run_id, step_id, turn, seq AS reply_seq, unnest(from_json(tool_calls, '["JSON"]')) ->> 'id' AS call_id,
        unnest(range(len(from_json(tool_calls, '["JSON"]')))) AS call_number
    FROM turns
),
places AS (
    SELECT run_id, step_id, turn, call_id, min(reply_seq) AS reply_seq, min(call_number) AS call_number
    FROM asked GROUP BY run_id, step_id, turn, call_id
)
SELECT
    calls.run_id, calls.step_id, steps.parent_id, steps.call_id AS parent_call_id, coalesce(depths.depth, 0) AS depth,
    steps.name AS step, steps.agent, calls.turn, calls.call_id, tool, args, ok, repaired, promoted, code, calls.duration_s, calls.created_at,
    calls.seq, reply_seq, call_number
FROM tool_calls AS calls
ANTI JOIN synthetic_calls USING (run_id, step_id, turn, call_id)
LEFT JOIN places ON places.run_id = calls.run_id AND places.step_id = calls.step_id AND places.turn = calls.turn
    AND places.call_id = calls.call_id
LEFT JOIN steps ON steps.run_id = calls.run_id AND steps.step_id = calls.step_id
LEFT JOIN step_depths AS depths ON depths.run_id = calls.run_id AND depths.step_id = calls.step_id;

CREATE OR REPLACE VIEW transcript AS
WITH cut AS (   -- replies that never came to their end: what had been streamed of them
    SELECT
        run_id, step_id, min(seq) AS seq, min(created_at) AS created_at, (payload ->> 'turn')::BIGINT AS turn,
        string_agg(payload ->> 'text', '' ORDER BY seq) AS text
    FROM events WHERE kind = 'text_chunk'
    GROUP BY run_id, step_id, (payload ->> 'turn')::BIGINT
),
notes AS (
    SELECT
        run_id, step_id, seq, created_at, 'retry' AS note, turn,
        concat_ws(
            '', effect, ' tried again (', retry_kind, '), attempt ', attempt, ' of ', max_attempts,
            CASE WHEN wait_s > 0 THEN format(', after {:.1f} s', wait_s) END,
            CASE WHEN reason <> '' THEN ': ' || reason END
        ) AS text
    FROM retries
    UNION ALL
    SELECT
        run_id, step_id, seq, coalesce(finished_at, started_at), 'compaction', turn,
        CASE
            WHEN error IS NOT NULL THEN format('could not summarise {:,} tokens: ', "before") || error
            WHEN finished_at IS NULL THEN format('summarising {:,} tokens was cut off', "before")
            ELSE concat_ws(
                '', format('summarised {:,} tokens to {:,}', "before", coalesce("after", 0)), ', the last ', kept,
                ' messages kept', ': ' || summary
            )
        END
    FROM compactions
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'nudge', NULL,
        CASE WHEN about = 'owed' AND len(owed) > 0 THEN 'reminded of what it still owes: ' || array_to_string(owed, ', ')
            ELSE text END
    FROM nudges
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'loop_warning', turn,
        format('`{}` called {:,} times with the same result', coalesce(tool, ''), "count")
    FROM loop_warnings
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'context_truncated', turn,
        format('the server read {:,} of the {:,} tokens it was sent', reported, sent)
    FROM context_truncations
),
entries AS (
    SELECT
        run_id, step_id, seq, created_at, role, NULL::BIGINT AS turn, text, NULL::VARCHAR AS thinking,
        NULL::VARCHAR AS tool, NULL::VARCHAR AS call_id, NULL::VARCHAR AS args, NULL::JSON AS tool_calls,
        NULL::BOOLEAN AS ok, FALSE AS repaired, FALSE AS promoted, FALSE AS truncated, synthetic, FALSE AS is_cut,
        []::VARCHAR[] AS marks, NULL::VARCHAR AS note
    FROM messages
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'assistant', turn, text, thinking,
        NULL, NULL, NULL, tool_calls, NULL, FALSE, FALSE, FALSE, synthetic, FALSE, marks, NULL
    FROM turns
    UNION ALL
    SELECT
        calls.run_id, calls.step_id, calls.seq, calls.created_at, 'tool', calls.turn, calls.result, NULL,
        calls.tool, calls.call_id, calls.args, NULL, calls.ok, calls.repaired, calls.promoted,
        coalesce(calls.truncated, FALSE), synthetic_calls.call_id IS NOT NULL, calls.ok IS NULL, [], NULL
    FROM tool_calls AS calls
    LEFT JOIN synthetic_calls USING (run_id, step_id, turn, call_id)
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'assistant', turn, text, NULL,
        NULL, NULL, NULL, NULL, NULL, FALSE, FALSE, FALSE, FALSE, TRUE, [], NULL
    FROM cut ANTI JOIN turns USING (run_id, step_id, turn)
    UNION ALL
    SELECT
        run_id, step_id, seq, created_at, 'note', turn, text, NULL,
        NULL, NULL, NULL, NULL, NULL, FALSE, FALSE, FALSE, FALSE, FALSE, [], note
    FROM notes
)
SELECT
    entries.run_id, entries.step_id, steps.name AS step, entries.seq, entries.role, entries.turn, entries.text,
    entries.thinking, entries.tool, entries.call_id, entries.args, entries.tool_calls, entries.ok,
    entries.repaired, entries.truncated, entries.synthetic, entries.is_cut, entries.created_at,
    steps.agent, steps.parent_id, steps.call_id AS parent_call_id, coalesce(depths.depth, 0) AS depth,
    entries.promoted, entries.marks, entries.note, strlen(entries.text) AS text_bytes
FROM entries
LEFT JOIN steps ON steps.run_id = entries.run_id AND steps.step_id = entries.step_id
LEFT JOIN step_depths AS depths ON depths.run_id = entries.run_id AND depths.step_id = entries.step_id;
