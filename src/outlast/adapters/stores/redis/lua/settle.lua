-- After a lost connection: no batch of this round or an earlier one is written from now on. Returns the slots of those that were.
-- Arguments: writer, round, number of slots, seconds the writer is remembered.
local writer, round, slots, remembered = unpack(ARGV)
local known = root .. 'writer:' .. writer
redis.call('HSET', known, 'fence', round)
redis.call('EXPIRE', known, remembered)
local written = {}
for slot = 0, tonumber(slots) - 1 do
    if redis.call('HGET', known, slot) == round then written[#written + 1] = slot end
end
return written
