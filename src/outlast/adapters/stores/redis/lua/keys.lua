-- The head of every script. All keys of a store begin with KEYS[1], `{outlast:NAME}:`, and so share one slot of a cluster.
local root = KEYS[1]

local function entry_key(queue, item)
    return root .. 'entry:' .. #queue .. ':' .. queue .. ':' .. item
end

-- A whole number as its digits; tostring would round it to 14 of them.
local function digits(number)
    return string.format('%.0f', number)
end

-- The server's time in microseconds since 1970.
local function now_micros()
    local time = redis.call('TIME')
    return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- A list's member names its row after its place in the order of insertion, which decides between rows of the same time.
local function id_of(member)
    return string.sub(member, 18)
end
