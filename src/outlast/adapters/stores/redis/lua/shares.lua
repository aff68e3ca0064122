-- What claims by shares go by. For each queue: the entries of one user and label that are or will be ready, by when; all such
-- groups, by when the first of theirs is ready; and the leases of each user and of each label, by their end.
local MOST_AT_ONCE = 1000 -- arguments of one call; Lua's stack holds 8,000

local function group_key(queue, group)
    return root .. 'ready:' .. #queue .. ':' .. queue .. ':' .. group
end

local function leases_key(queue, kind, name)
    return root .. 'leases_of_' .. kind .. ':' .. #queue .. ':' .. queue .. ':' .. name
end

-- Give all items the same score in a sorted set, or take them out of it (false).
local function score_all(key, score, items)
    for first = 1, #items, MOST_AT_ONCE do
        local words = {}
        for n = first, math.min(first + MOST_AT_ONCE - 1, #items) do
            if score then words[#words + 1] = score end
            words[#words + 1] = items[n]
        end
        redis.call(score and 'ZADD' or 'ZREM', key, unpack(words))
    end
end

-- As place, for items of one user and label.
local function place_pair(queue, user, label, items, ready_at, leased_until)
    local group = #user .. ':' .. user .. label
    local ready, groups = group_key(queue, group), root .. 'groups:' .. queue
    score_all(ready, ready_at, items)
    local first = redis.call('ZRANGE', ready, 0, 0, 'WITHSCORES')
    if first[1] then
        redis.call('ZADD', groups, first[2], group)
    else
        redis.call('ZREM', groups, group)
    end
    score_all(leases_key(queue, 'user', user), leased_until, items)
    score_all(leases_key(queue, 'label', label), leased_until, items)
end

-- Note from when an entry can be claimed (false: not at all), and until when a lease on it is held (false: none is).
local function place(queue, item, ready_at, leased_until)
    local found = redis.call('HMGET', entry_key(queue, item), 'user_id', 'label')
    place_pair(queue, found[1], found[2], { item }, ready_at, leased_until)
end
