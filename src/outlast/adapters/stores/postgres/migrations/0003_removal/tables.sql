-- Runs that have ended, by when: what archiving and pruning look for.
CREATE INDEX ended_runs ON {schema}.runs (updated_at) WHERE NOT is_active;
