-- The user and label of everything that is ripe, where there is only one such pair: the first and the last of the index are the same.
SELECT earliest.user_id, earliest.label
FROM (
    SELECT user_id, label FROM queue_entries WHERE queue = :queue AND is_ripe = 1 ORDER BY user_id, label LIMIT 1
) AS earliest
JOIN (
    SELECT user_id, label FROM queue_entries WHERE queue = :queue AND is_ripe = 1 ORDER BY user_id DESC, label DESC LIMIT 1
) AS latest ON latest.user_id = earliest.user_id AND latest.label = earliest.label
