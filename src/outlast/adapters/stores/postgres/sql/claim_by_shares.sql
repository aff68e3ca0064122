-- $1 queue, $2 holder, $3 length of the lease, $4 how many at most, $5 the reader's version, $6 and $7 the bounds of user and label.
SELECT item, generation, until, store_now, attempts, ready_at FROM {schema}.claim_by_shares($1, $2, $3, $4, $5, $6, $7)
