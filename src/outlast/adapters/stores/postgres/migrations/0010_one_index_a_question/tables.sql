-- What is ripe and what is not are each found by a time that only their own index knows. While both went by the same expression as
-- queue_entries_ready, the planner could take that one, where the statistics said that it was as good, and a claim went through all
-- that was due, or all that was somebody else's.
DROP INDEX {schema}.queue_entries_ripe;
DROP INDEX {schema}.queue_entries_unripe;
CREATE INDEX queue_entries_ripe ON {schema}.queue_entries (queue, user_id, label, (CASE WHEN is_ripe THEN coalesce(until, due_at) END)) WHERE is_ripe;
CREATE INDEX queue_entries_unripe ON {schema}.queue_entries (queue, (CASE WHEN NOT is_ripe THEN coalesce(until, due_at) END))
WHERE (CASE WHEN NOT is_ripe THEN coalesce(until, due_at) END) IS NOT NULL;
