-- Leases on entries that are due, earliest first or by shares, or on the entry that is named. A wish says: queue, holder, lease in
-- microseconds, limit, reader, named ('' or '=' and the item), evicted (generation to take over, '': none), by_shares, and per_user
-- and per_label (nil: no bound).
local PAGE = 100

local function is_readable(wish, item)
    local needed = redis.call('HGET', root .. 'run:' .. item, 'min_reader')
    return not needed or tonumber(needed) <= wish.reader
end

-- Add to `found` the earliest due of a sorted set of entries that can be read, at most so many.
local function due_in(key, wish, most, found)
    local offset, wanted = 0, #found + most
    while #found < wanted do
        local page = redis.call('ZRANGEBYSCORE', key, '-inf', digits(wish.now), 'WITHSCORES', 'LIMIT', offset, PAGE)
        for n = 1, #page, 2 do
            if #found < wanted and is_readable(wish, page[n]) then
                found[#found + 1] = { item = page[n], ready_at = tonumber(page[n + 1]) }
            end
        end
        if #page < 2 * PAGE then break end
        offset = offset + PAGE
    end
    return found
end

-- Give out leases on entries of one user and label.
local function lease_out_pair(wish, user, label, items, answer)
    for _, item in ipairs(items) do
        local key = entry_key(wish.queue, item)
        local generation = redis.call('HINCRBY', key, 'generation', 1)
        local attempts = redis.call('HINCRBY', key, 'attempts', 1)
        redis.call('HSET', key, 'holder', wish.holder, 'until', wish.ends)
        redis.call('HDEL', key, 'due_at')
        answer[#answer + 1] = { item, generation, attempts }
    end
    score_all(root .. 'due:' .. wish.queue, false, items)
    score_all(root .. 'leased:' .. wish.queue, wish.ends, items)
    place_pair(wish.queue, user, label, items, wish.ends, wish.ends)
end

local function lease_out(wish, item, answer)
    local found = redis.call('HMGET', entry_key(wish.queue, item), 'user_id', 'label')
    lease_out_pair(wish, found[1], found[2], { item }, answer)
end

-- Entries nobody holds, and those whose lease has run out.
local function claim_due(wish, answer)
    local found = due_in(root .. 'due:' .. wish.queue, wish, wish.limit, {})
    due_in(root .. 'leased:' .. wish.queue, wish, wish.limit, found)
    table.sort(found, function(a, b)
        if a.ready_at ~= b.ready_at then return a.ready_at < b.ready_at end
        return a.item < b.item
    end)
    for n = 1, math.min(#found, wish.limit) do lease_out(wish, found[n].item, answer) end
end

local function claim_named(wish, answer)
    local item = string.sub(wish.named, 2)
    local found = redis.call('HMGET', entry_key(wish.queue, item), 'generation', 'until')
    local generation, leased_until = found[1], found[2]
    local is_free = generation and (not leased_until or tonumber(leased_until) <= wish.now or generation == wish.evicted)
    if is_free and is_readable(wish, item) then lease_out(wish, item, answer) end
end

local function pair_of(group)
    local length, rest = string.match(group, '^(%d+):(.*)$')
    return string.sub(rest, 1, length), string.sub(rest, length + 1)
end

local function held_by(wish, kind, name)
    return redis.call('ZCOUNT', leases_key(wish.queue, kind, name), '(' .. digits(wish.now), '+inf')
end

-- Of the users that hold least, the entry that is due first.
local function next_by_shares(wish, groups)
    local best
    for _, group in ipairs(groups) do
        local user, label = pair_of(group)
        local held = held_by(wish, 'user', user)
        local may_be = not (wish.per_user and held >= wish.per_user) and not (best and held > best.held)
        if may_be and not (wish.per_label and held_by(wish, 'label', label) >= wish.per_label) then
            local first = due_in(group_key(wish.queue, group), wish, 1, {})[1]
            if first and (not best or held < best.held or first.ready_at < best.ready_at) then
                best = { user = user, label = label, item = first.item, ready_at = first.ready_at, held = held }
            end
        end
    end
    return best
end

-- Where one user and label alone have something due and no bound holds, there is nothing to choose.
local function claim_of_lone_pair(wish, group, answer)
    local items = {}
    for _, entry in ipairs(due_in(group_key(wish.queue, group), wish, wish.limit, {})) do items[#items + 1] = entry.item end
    if #items == 0 then return end
    local user, label = pair_of(group)
    lease_out_pair(wish, user, label, items, answer)
end

local function claim_by_shares(wish, answer)
    local taken = 0
    while taken < wish.limit do
        local groups = redis.call('ZRANGEBYSCORE', root .. 'groups:' .. wish.queue, '-inf', digits(wish.now))
        if taken == 0 and #groups == 1 and not wish.per_user and not wish.per_label then
            return claim_of_lone_pair(wish, groups[1], answer)
        end
        local entry = next_by_shares(wish, groups)
        if not entry then return end
        lease_out_pair(wish, entry.user, entry.label, { entry.item }, answer)
        taken = taken + 1
    end
end

-- Returns the time, the end of the leases, and for each its item, generation and attempts.
local function claim(wish)
    wish.now = now_micros()
    wish.ends = digits(wish.now + tonumber(wish.lease))
    wish.limit, wish.reader = tonumber(wish.limit), tonumber(wish.reader)
    local answer = { digits(wish.now), wish.ends }
    if wish.named ~= '' then
        claim_named(wish, answer)
    elseif wish.by_shares then
        claim_by_shares(wish, answer)
    else
        claim_due(wish, answer)
    end
    return answer
end
