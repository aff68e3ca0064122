-- To go from user to user and label to label over what is ready, and to count and list the leases of a queue.
ALTER TABLE {schema}.queue_entries
ALTER COLUMN user_id TYPE text COLLATE "C",
ALTER COLUMN label TYPE text COLLATE "C";
CREATE INDEX queue_entries_by_share ON {schema}.queue_entries (queue, user_id, label, coalesce(until, due_at))
WHERE coalesce(until, due_at) IS NOT NULL;
CREATE INDEX queue_entries_leased ON {schema}.queue_entries (queue, until) INCLUDE (user_id, label) WHERE until IS NOT NULL;
