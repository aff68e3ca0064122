UPDATE memory_user SET entries = entries + :entries, terms = terms + :terms, removals = removals + (:entries < 0)
WHERE user_no = :user_no
