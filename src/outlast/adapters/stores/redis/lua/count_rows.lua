-- How many members are in every one of some lists. Arguments: the names of the lists.
local lists, count = {}, 0
for n = 1, #ARGV do lists[#lists + 1] = root .. ARGV[n] end
if #lists == 1 then return redis.call('ZCARD', lists[1]) end
walk(lists, function()
    count = count + 1
    return false
end)
return count
