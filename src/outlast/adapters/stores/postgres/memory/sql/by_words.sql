-- The visible entries that hold one of the terms, those that hold more and rarer ones first; {rarity} sums their weights.
SELECT memory.memory_no FROM {schema}.memory
WHERE memory.words @@ $8::text::tsquery AND {visible}
ORDER BY {rarity} DESC, memory.memory_no DESC
LIMIT $9
