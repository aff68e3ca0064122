-- The threads of a user, newest first. Arguments: user, limit. Returns for each its id and the fields of its row.
local answer = {}
if tonumber(ARGV[2]) < 1 then return answer end
for _, member in ipairs(redis.call('ZREVRANGE', root .. 'threads_of:' .. ARGV[1], 0, tonumber(ARGV[2]) - 1)) do
    local id = id_of(member)
    answer[#answer + 1] = { id, redis.call('HGETALL', root .. 'thread:' .. id) }
end
return answer
