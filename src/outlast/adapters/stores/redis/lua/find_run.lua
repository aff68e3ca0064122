-- The run a user has started with a key. Arguments: user, key. Returns its id and the fields of its row, or nothing.
local id = redis.call('HGET', root .. 'keys_of:' .. ARGV[1], ARGV[2])
return id and { id, redis.call('HGETALL', root .. 'run:' .. id) } or {}
