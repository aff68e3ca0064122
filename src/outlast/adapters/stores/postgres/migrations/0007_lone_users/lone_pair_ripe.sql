-- The user and label of everything that is ripe, where there is only one such pair: the first and the last of the index are the same.
CREATE FUNCTION {schema}.lone_pair_ripe(wanted_queue text) RETURNS TABLE (user_id text, label text)
LANGUAGE sql STABLE
AS $$
SELECT earliest.user_id, earliest.label
FROM (
    SELECT entry.user_id, entry.label
    FROM {schema}.queue_entries AS entry
    WHERE entry.queue = wanted_queue AND entry.is_ripe
    ORDER BY entry.user_id, entry.label
    LIMIT 1
) AS earliest
JOIN (
    SELECT entry.user_id, entry.label
    FROM {schema}.queue_entries AS entry
    WHERE entry.queue = wanted_queue AND entry.is_ripe
    ORDER BY entry.user_id DESC, entry.label DESC
    LIMIT 1
) AS latest ON latest.user_id = earliest.user_id AND latest.label = earliest.label
$$;
