-- What people allowed, what runs had of resources, and what steps may take over.

CREATE VIEW approvals AS
SELECT questions.* FROM questions
SEMI JOIN (SELECT run_id, step_id FROM step_starts WHERE kind = 'approval') AS asking USING (run_id, step_id);

CREATE VIEW versions AS
SELECT
    resource, version, max(check_order) AS check_order, bool_or(from_check) AS from_check, pipeline,
    min(had.created_at) AS first_at, count(DISTINCT run_id) AS runs
FROM (
    SELECT
        run_id, created_at, coalesce(payload ->> 'resource', '') AS resource,
        coalesce(payload -> 'version', '{}'::JSON) AS version,
        coalesce(TRY_CAST(payload ->> 'check_order' AS BIGINT), 0) AS check_order,
        coalesce(TRY_CAST(payload ->> 'from_check' AS BOOLEAN), TRUE) AS from_check
    FROM events WHERE kind = 'resource_version'
) AS had
LEFT JOIN (SELECT run_id, pipeline FROM runs) AS of_runs USING (run_id)
GROUP BY pipeline, resource, version;

-- Filled from the folder of results when somebody asks for it.
CREATE TABLE step_cache (
    hash VARCHAR, inputs_digest VARCHAR, artifact VARCHAR, digest VARCHAR, bytes BIGINT, run_id VARCHAR
);
