-- How often entries hold each of the terms $2.
SELECT
    memory.memory_no, memory.terms, memory.valid_to,
    ARRAY(SELECT held.lexeme FROM unnest(memory.words) AS held WHERE held.lexeme = ANY ($2::text[]) ORDER BY held.lexeme),
    ARRAY(
        SELECT cardinality(held.positions) FROM unnest(memory.words) AS held
        WHERE held.lexeme = ANY ($2::text[]) ORDER BY held.lexeme
    )
FROM {schema}.memory
WHERE memory.memory_no = ANY ($1::bigint[])
