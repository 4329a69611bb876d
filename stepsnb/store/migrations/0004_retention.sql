-- Runs go when their job keeps only so many; what a kept run goes on from stays.
ALTER TABLE run_starts ADD COLUMN forked_at VARCHAR;
ALTER TABLE run_starts ADD COLUMN run_history BIGINT;   -- how many finished runs of the job are kept; NULL: all

UPDATE run_starts SET forked_at = events.payload ->> 'forked_at'
FROM events
WHERE events.run_id = run_starts.run_id AND events.seq = run_starts.seq AND events.kind = 'run_started';

CREATE TABLE removed_runs (
    run_id VARCHAR PRIMARY KEY,
    removed_at TIMESTAMPTZ,
    is_cleared BOOLEAN      -- their files are gone as well
);
