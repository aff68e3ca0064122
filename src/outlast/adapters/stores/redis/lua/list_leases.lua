-- The entries of a queue under a live lease, the one that ends soonest first. Arguments: queue, limit, then the fields wanted.
-- Returns for each its item and these fields.
local queue, limit = ARGV[1], ARGV[2]
local held = redis.call('ZRANGEBYSCORE', root .. 'leased:' .. queue, '(' .. digits(now_micros()), '+inf', 'LIMIT', 0, limit)
local answer = {}
for n, item in ipairs(held) do
    answer[n] = { item, redis.call('HMGET', entry_key(queue, item), unpack(ARGV, 3)) }
end
return answer
