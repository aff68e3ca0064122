-- Bring the store to the newest schema, unless it is newer. Arguments: the newest version.
-- Returns the version found (0: a new store), and what hinders: a command that this user may not call.
local newest = tonumber(ARGV[1])
local found = tonumber(redis.call('HGET', root .. 'store', 'schema') or 0)
if found > newest then return { found, '' } end

-- A script that is refused a command half way leaves half a batch behind, so each is tried before any batch is taken.
local probe, counter, list, set = root .. 'probe', root .. 'probe:n', root .. 'probe:list', root .. 'probe:set'
local sorted = root .. 'probe:sorted'
local tried = {
    { 'TIME' }, { 'HSET', probe, 'a', '1' }, { 'HGET', probe, 'a' }, { 'HMGET', probe, 'a' }, { 'HGETALL', probe },
    { 'HEXISTS', probe, 'a' }, { 'HINCRBY', probe, 'a', 1 }, { 'HDEL', probe, 'b' }, { 'EXPIRE', probe, 60 },
    { 'INCR', counter }, { 'SETNX', counter, '1' }, { 'RPUSH', list, '1' }, { 'LLEN', list }, { 'LRANGE', list, 0, 1 },
    { 'SADD', set, '1' }, { 'SMEMBERS', set }, { 'ZADD', sorted, 1, '1' }, { 'ZCARD', sorted }, { 'ZSCORE', sorted, '1' },
    { 'ZCOUNT', sorted, 0, 1 },
    { 'ZRANGE', sorted, 0, 0 }, { 'ZREVRANGE', sorted, 0, 0 }, { 'ZRANGEBYSCORE', sorted, 0, 1 }, { 'ZREM', sorted, '2' },
    { 'MGET', counter }, { 'PUBLISH', root .. 'wakeup', '' }, { 'DEL', probe, counter, list, set, sorted },
}
for _, command in ipairs(tried) do
    local reply = redis.pcall(unpack(command))
    if type(reply) == 'table' and reply.err then return { found, command[1] .. ': ' .. reply.err } end
end
redis.call('HSET', root .. 'store', 'schema', newest)
return { found, '' }
