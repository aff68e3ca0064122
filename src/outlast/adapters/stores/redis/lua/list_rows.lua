-- Rows that are in every one of some lists, newest first. Arguments: what their keys begin with, limit, how many to leave out first,
-- and the names of the lists. Returns for each its id and the fields of its row.
local prefix, limit, offset = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local lists, answer = {}, {}
for n = 4, #ARGV do lists[#lists + 1] = root .. ARGV[n] end
if limit < 1 then return answer end
walk(lists, function(member)
    if offset > 0 then
        offset = offset - 1
    else
        local id = id_of(member)
        answer[#answer + 1] = { id, redis.call('HGETALL', root .. prefix .. id) }
    end
    return #answer == limit
end)
return answer
