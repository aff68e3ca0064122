-- `is_ripe` says that the time of an entry has come. The first claim by shares that finds it so writes it down, or an enqueue or
-- release that knows it already; whoever takes the entry takes it back. Claims then step over what is due, never over what waits.
-- A mark is a hint: an entry that has it is still compared with the clock.
ALTER TABLE {schema}.queue_entries ADD COLUMN is_ripe boolean NOT NULL DEFAULT false;
CREATE INDEX queue_entries_ripe ON {schema}.queue_entries (queue, user_id, label, coalesce(until, due_at)) WHERE is_ripe;
CREATE INDEX queue_entries_unripe ON {schema}.queue_entries (queue, coalesce(until, due_at))
WHERE NOT is_ripe AND coalesce(until, due_at) IS NOT NULL;
DROP INDEX {schema}.queue_entries_by_share;
DROP FUNCTION {schema}.pairs_with_due;
