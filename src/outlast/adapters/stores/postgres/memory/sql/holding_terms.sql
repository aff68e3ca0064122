-- How many entries hold each term, counted no further than $2: what is more common than that tells little.
SELECT wanted.term, (
    SELECT count(*) FROM (
        SELECT FROM {schema}.memory WHERE memory.words @@ ('''' || wanted.term || '''')::tsquery LIMIT $2
    ) AS holding
)
FROM unnest($1::text[]) AS wanted (term)
