SELECT
    backend_start,
    current_setting('server_version') AS version,
    current_setting('server_version_num')::integer AS version_number,
    current_setting('server_encoding') AS encoding,
    current_setting('synchronous_commit') AS synchronous_commit,
    pg_is_in_recovery() AS is_standby
FROM pg_stat_activity
WHERE pid = pg_backend_pid()
