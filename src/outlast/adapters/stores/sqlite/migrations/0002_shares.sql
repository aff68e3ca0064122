-- To go from user to user and label to label over what is ready, and to count and list the leases of a queue.
CREATE INDEX queue_entries_by_share ON queue_entries (queue, user_id, label, ready_at) WHERE ready_at IS NOT NULL;
CREATE INDEX queue_entries_leased ON queue_entries (queue, until, user_id, label) WHERE until IS NOT NULL;
