-- What is to be deleted of a filter.
SELECT memory.memory_no, memory.user_no, memory.terms FROM memory WHERE {chosen}
