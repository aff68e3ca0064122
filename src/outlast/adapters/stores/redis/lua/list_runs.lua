-- Runs that are in every one of some lists, newest first. Arguments: limit, then the names of the lists (none: all runs).
-- Returns for each its id and the fields of its row.
local PAGE = 100
local limit = tonumber(ARGV[1])
local lists = {}
for n = 2, #ARGV do lists[#lists + 1] = root .. ARGV[n] end
if #lists == 0 then lists[1] = root .. 'runs' end

-- The shortest list is walked, the others are asked.
local shortest = 1
for n = 2, #lists do
    if redis.call('ZCARD', lists[n]) < redis.call('ZCARD', lists[shortest]) then shortest = n end
end
local walked = table.remove(lists, shortest)

local function is_in_all(member)
    for _, list in ipairs(lists) do
        if not redis.call('ZSCORE', list, member) then return false end
    end
    return true
end

local answer, offset = {}, 0
while #answer < limit do
    local page = redis.call('ZREVRANGE', walked, offset, offset + PAGE - 1)
    for _, member in ipairs(page) do
        if #answer < limit and is_in_all(member) then
            local id = id_of(member)
            answer[#answer + 1] = { id, redis.call('HGETALL', root .. 'run:' .. id) }
        end
    end
    if #page < PAGE then break end
    offset = offset + PAGE
end
return answer
