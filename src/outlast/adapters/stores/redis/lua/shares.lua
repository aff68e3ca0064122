-- What claims by shares go by. For each queue: the entries of one user and label that are or will be ready, by when; all such
-- groups, by when the first of theirs is ready; and the leases of each user and of each label, by their end.
local function group_key(queue, group)
    return root .. 'ready:' .. #queue .. ':' .. queue .. ':' .. group
end

local function leases_key(queue, kind, name)
    return root .. 'leases_of_' .. kind .. ':' .. #queue .. ':' .. queue .. ':' .. name
end

-- Note from when an entry can be claimed (false: not at all), and until when a lease on it is held (false: none is).
local function place(queue, item, ready_at, leased_until)
    local found = redis.call('HMGET', entry_key(queue, item), 'user_id', 'label')
    local user, label = found[1], found[2]
    local group = #user .. ':' .. user .. label
    local ready, groups = group_key(queue, group), root .. 'groups:' .. queue
    if ready_at then
        redis.call('ZADD', ready, ready_at, item)
    else
        redis.call('ZREM', ready, item)
    end
    local first = redis.call('ZRANGE', ready, 0, 0, 'WITHSCORES')
    if first[1] then
        redis.call('ZADD', groups, first[2], group)
    else
        redis.call('ZREM', groups, group)
    end
    for kind, name in pairs({ user = user, label = label }) do
        if leased_until then
            redis.call('ZADD', leases_key(queue, kind, name), leased_until, item)
        else
            redis.call('ZREM', leases_key(queue, kind, name), item)
        end
    end
end
