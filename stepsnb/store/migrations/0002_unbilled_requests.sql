-- Whether a sum is incomplete is known for every request, also for one that no response came to (status NULL).

-- A request is unpriced when it may have been billed: a refused one that used no tokens was not.
CREATE OR REPLACE VIEW step_costs AS
WITH spent AS (
    SELECT
        run_id, step_id, model, price_source, min(seq) AS seq, count(*) AS requests,
        sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
        sum(cache_write_tokens) AS cache_write_tokens, sum(output_tokens) AS output_tokens,
        sum(cost_usd) AS cost_usd,
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
    totals.price_source, totals.incomplete, runs.started_at, totals.seq
FROM totals
LEFT JOIN runs ON runs.run_id = totals.run_id
LEFT JOIN steps ON steps.run_id = totals.run_id AND steps.step_id = totals.step_id;
