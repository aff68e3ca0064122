SELECT kind, count(*), count(archived_at), count(CASE WHEN archived_at IS NULL THEN valid_to END) FROM memory
WHERE :user_no IS NULL OR user_no = :user_no
GROUP BY kind
