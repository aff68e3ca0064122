-- Leases on entries that are due, earliest first or by shares, or on the entry that is named.
-- Arguments: queue, holder, lease in microseconds, limit, reader, '' or '=' and the item, generation to take over ('': none),
-- '1' for shares, and the bounds for one user and one label ('': none).
-- Returns the time, the end of the leases, and for each its item, generation and attempts.
local queue, holder, lease, limit, reader, named, evicted = unpack(ARGV)
local by_shares, per_user, per_label = ARGV[8] == '1', tonumber(ARGV[9]), tonumber(ARGV[10])
local PAGE = 100
local now = now_micros()
local ends = digits(now + tonumber(lease))
limit, reader = tonumber(limit), tonumber(reader)

local function is_readable(item)
    local needed = redis.call('HGET', root .. 'run:' .. item, 'min_reader')
    return not needed or tonumber(needed) <= reader
end

local function due_in(set, found)
    local offset, wanted = 0, #found + limit
    while #found < wanted do
        local page = redis.call('ZRANGEBYSCORE', root .. set .. queue, '-inf', digits(now), 'WITHSCORES', 'LIMIT', offset, PAGE)
        for n = 1, #page, 2 do
            if #found < wanted and is_readable(page[n]) then
                found[#found + 1] = { item = page[n], ready_at = tonumber(page[n + 1]) }
            end
        end
        if #page < 2 * PAGE then return end
        offset = offset + PAGE
    end
end

-- Entries nobody holds, and those whose lease has run out.
local function all_due()
    local found = {}
    due_in('due:', found)
    due_in('leased:', found)
    table.sort(found, function(a, b)
        if a.ready_at ~= b.ready_at then return a.ready_at < b.ready_at end
        return a.item < b.item
    end)
    return found
end

local function the_named()
    local item = string.sub(named, 2)
    local found = redis.call('HMGET', entry_key(queue, item), 'generation', 'until')
    local generation, leased_until = found[1], found[2]
    local is_free = generation and (not leased_until or tonumber(leased_until) <= now or generation == evicted)
    return is_free and is_readable(item) and { { item = item } } or {}
end

local function held_by(kind, name)
    return redis.call('ZCOUNT', leases_key(queue, kind, name), '(' .. digits(now), '+inf')
end

local function first_of(group)
    local offset = 0
    while true do
        local page = redis.call(
            'ZRANGEBYSCORE', group_key(queue, group), '-inf', digits(now), 'WITHSCORES', 'LIMIT', offset, PAGE)
        for n = 1, #page, 2 do
            if is_readable(page[n]) then return { item = page[n], ready_at = tonumber(page[n + 1]) } end
        end
        if #page < 2 * PAGE then return nil end
        offset = offset + PAGE
    end
end

-- Of the users that hold least, the entry that is due first.
local function next_by_shares()
    local best
    for _, group in ipairs(redis.call('ZRANGEBYSCORE', root .. 'groups:' .. queue, '-inf', digits(now))) do
        local length, rest = string.match(group, '^(%d+):(.*)$')
        local user, label = string.sub(rest, 1, length), string.sub(rest, length + 1)
        local held = held_by('user', user)
        local may_be = not (per_user and held >= per_user) and not (best and held > best.held)
        if may_be and not (per_label and held_by('label', label) >= per_label) then
            local first = first_of(group)
            if first and (not best or held < best.held or first.ready_at < best.ready_at) then
                best = { item = first.item, ready_at = first.ready_at, held = held }
            end
        end
    end
    return best
end

local function lease_out(item)
    local key = entry_key(queue, item)
    local generation = redis.call('HINCRBY', key, 'generation', 1)
    local attempts = redis.call('HINCRBY', key, 'attempts', 1)
    redis.call('HSET', key, 'holder', holder, 'until', ends)
    redis.call('HDEL', key, 'due_at')
    redis.call('ZREM', root .. 'due:' .. queue, item)
    redis.call('ZADD', root .. 'leased:' .. queue, ends, item)
    place(queue, item, ends, ends)
    return { item, generation, attempts }
end

local answer = { digits(now), ends }
if named == '' and by_shares then
    while #answer < limit + 2 do
        local entry = next_by_shares()
        if not entry then break end
        answer[#answer + 1] = lease_out(entry.item)
    end
    return answer
end
for n, entry in ipairs(named == '' and all_due() or the_named()) do
    if n > limit and named == '' then break end
    answer[#answer + 1] = lease_out(entry.item)
end
return answer
