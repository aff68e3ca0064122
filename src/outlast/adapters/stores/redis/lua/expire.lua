-- For tests: a live lease runs out now. Arguments: queue, item.
local queue, item = unpack(ARGV)
local key, now = entry_key(queue, item), now_micros()
local leased_until = redis.call('HGET', key, 'until')
if leased_until and tonumber(leased_until) > now then
    redis.call('HSET', key, 'until', digits(now))
    redis.call('ZADD', root .. 'leased:' .. queue, digits(now), item)
    place(queue, item, digits(now), digits(now))
end
return 1
