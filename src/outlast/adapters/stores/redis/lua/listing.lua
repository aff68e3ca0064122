-- Members that are in every one of some lists: the shortest list is walked from its end, the others are asked. `each` is given every
-- such member, newest first, until it answers true.
local PAGE = 100

local function walk(lists, each)
    local shortest = 1
    for n = 2, #lists do
        if redis.call('ZCARD', lists[n]) < redis.call('ZCARD', lists[shortest]) then shortest = n end
    end
    local walked, offset = table.remove(lists, shortest), 0
    local function is_in_all(member)
        for _, list in ipairs(lists) do
            if not redis.call('ZSCORE', list, member) then return false end
        end
        return true
    end
    while true do
        local page = redis.call('ZREVRANGE', walked, offset, offset + PAGE - 1)
        for _, member in ipairs(page) do
            if is_in_all(member) and each(member) then return end
        end
        if #page < PAGE then return end
        offset = offset + PAGE
    end
end
