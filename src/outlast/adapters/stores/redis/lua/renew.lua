-- Extend leases that still have their generation.
-- Arguments: lease in microseconds, then queue, item and generation of each. Returns 1 or 0 for each.
local ends = digits(now_micros() + tonumber(ARGV[1]))
local answer = {}
for n = 2, #ARGV, 3 do
    local queue, item, generation = unpack(ARGV, n, n + 2)
    local key = entry_key(queue, item)
    local found = redis.call('HMGET', key, 'generation', 'until')
    local is_held = found[2] and found[1] == generation
    if is_held then
        redis.call('HSET', key, 'until', ends)
        redis.call('ZADD', root .. 'leased:' .. queue, ends, item)
        place(queue, item, ends, ends)
    end
    answer[#answer + 1] = is_held and 1 or 0
end
return answer
