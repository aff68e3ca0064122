-- One batch: every guard is checked first, in the order of the items, and only then is anything written.
-- The items are read and checked by commit_items.lua and written by commit_writes.lua, those of background tasks by
-- commit_tasks.lua, what is to be claimed by claiming.lua, all of which come before this text.
-- Arguments: writer, round, slot, seconds the writer is remembered (0: as before), wake-up message, and the items.
-- Returns 1 or, behind a 1, what was claimed for each item that asks for it; or the guard that failed and the index of its item.
local writer, round, slot, remembered, wakeup = unpack(ARGV, 1, 5)

local known = root .. 'writer:' .. writer
local fence = redis.call('HGET', known, 'fence')
if fence and tonumber(fence) >= tonumber(round) then
    return redis.error_reply('LATE this batch was given up before it arrived')
end

local items = {}
while taken < #ARGV do
    local item = { verb = take() }
    local guard = checks[item.verb](item)
    if guard then return { guard, #items } end
    items[#items + 1] = item
end

redis.call('HSET', known, slot, round)
if remembered ~= '0' then redis.call('EXPIRE', known, remembered) end
local wishes = {}
for _, item in ipairs(items) do
    if item.verb == 'claim_due' then
        wishes[#wishes + 1] = item
    else
        writes[item.verb](item)
    end
end
-- Whoever may not publish must not stop a batch half way; others hear of it by looking again.
if wakeup ~= '' then redis.pcall('PUBLISH', root .. 'wakeup', wakeup) end
if #wishes == 0 then return 1 end
local answer = { 1 }
for n, wish in ipairs(wishes) do answer[n + 1] = claim(wish) end
return answer
