-- How often entries hold each of the terms $2.
SELECT memory.memory_no, memory.terms, memory.valid_to, found.terms, found.counts
FROM {schema}.memory CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(held.lexeme), '{}') AS terms,
        coalesce(array_agg(cardinality(held.positions)), '{}') AS counts
    FROM unnest(memory.words) AS held
    WHERE held.lexeme = ANY ($2::text[])
) AS found
WHERE memory.memory_no = ANY ($1::bigint[])
