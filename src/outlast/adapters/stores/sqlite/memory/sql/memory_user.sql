SELECT user_no, entries, terms, removals FROM memory_user WHERE user_id = :user_id
