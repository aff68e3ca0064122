-- `is_ripe` says that the time of an entry has come. The first claim by shares that finds it so writes it down; whoever takes the
-- entry takes it back. Claims then step over what is due, never over what waits. A mark is a hint: an entry that has it is still
-- compared with the clock.
ALTER TABLE queue_entries ADD COLUMN is_ripe INTEGER NOT NULL DEFAULT 0;
CREATE INDEX queue_entries_ripe ON queue_entries (queue, user_id, label, ready_at) WHERE is_ripe = 1;
CREATE INDEX queue_entries_unripe ON queue_entries (queue, ready_at) WHERE is_ripe = 0 AND ready_at IS NOT NULL;
DROP INDEX queue_entries_by_share;
