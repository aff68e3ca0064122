-- Is the backend still there? If so it is told to end: what it had begun either holds or never will.
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2
