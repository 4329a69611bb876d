-- A run that was left for a fork has no outcome, and nobody is at work on it.
CREATE OR REPLACE VIEW runs AS
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
        WHEN ends.seq IS NOT NULL THEN 'left'
        WHEN writer IN (SELECT writer FROM spools WHERE NOT is_closed) THEN 'running'
        ELSE 'interrupted'
    END AS state,
    started_at, ends.created_at AS finished_at, duration_s, error, forked_from, tags
FROM starts FULL JOIN ends USING (run_id);
