-- Tell who listens to the channels $1 that there is something; $2 says by whom.
SELECT pg_notify(channel, $2) FROM unnest($1::text[]) AS told (channel)
