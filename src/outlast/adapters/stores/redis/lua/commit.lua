-- One batch: every guard is checked first, in the order of the items, and only then is anything written.
-- Arguments: writer, round, slot, seconds the writer is remembered (0: as before), wake-up message, and the items.
-- Returns 1, or the guard that failed and the index of its item.
local writer, round, slot, remembered, wakeup = unpack(ARGV, 1, 5)
local taken = 5

local function take()
    taken = taken + 1
    return ARGV[taken]
end

-- '' is nothing, '=TEXT' is TEXT.
local function take_optional()
    local text = take()
    return text ~= '' and string.sub(text, 2)
end

local function take_row()
    local row, count = {}, tonumber(take())
    for n = 1, count do row[n] = take() end
    return row
end

-- What the batch would find so far: each is read once, then changed by the items that pass.
local heads, leases, threads, runs, keys, crowds = {}, {}, {}, {}, {}, {}

local function head_of(stream)
    if heads[stream] == nil then heads[stream] = redis.call('LLEN', root .. 'events:' .. stream) end
    return heads[stream]
end

-- The generation under which a lease is held, else false.
local function lease_on(queue, item)
    local key = entry_key(queue, item)
    if leases[key] == nil then
        local found = redis.call('HMGET', key, 'generation', 'until')
        leases[key] = found[2] and found[1]
    end
    return leases[key]
end

local function thread_of(id)
    if threads[id] == nil then
        local found = redis.call('HMGET', root .. 'thread:' .. id, 'user_id', 'active_run')
        threads[id] = found[1] and { user_id = found[1], active_run = found[2] }
    end
    return threads[id]
end

local function run_of(id)
    if runs[id] == nil then
        local found = redis.call('HMGET', root .. 'run:' .. id, 'thread_id', 'is_active', 'user_id', 'key')
        runs[id] = found[1] and { thread_id = found[1], is_active = found[2] == '1', user_id = found[3], key = found[4] }
    end
    return runs[id]
end

local function is_key_used(user_id, key)
    local name = #user_id .. ':' .. user_id .. key
    if keys[name] == nil then keys[name] = redis.call('HEXISTS', root .. 'keys_of:' .. user_id, key) == 1 end
    return keys[name], name
end

-- How many runs a thread has.
local function crowd_of(thread_id)
    if crowds[thread_id] == nil then crowds[thread_id] = redis.call('ZCARD', root .. 'runs_of_thread:' .. thread_id) end
    return crowds[thread_id]
end

-- The place of a run in its thread, as it is after the item.
local function settle_active(run_id, run)
    local thread = threads[run.thread_id]
    if run.is_active then
        thread.active_run = run_id
    elseif thread.active_run == run_id then
        thread.active_run = false
    end
end

-- Each reads the arguments of an item, and names the guard that fails.
local checks = {
    append = function(item)
        item.stream, item.after = take(), take_optional()
        item.queue, item.generation = take(), take_optional()
        local count = tonumber(take())
        item.first, item.last = taken + 1, taken + count
        taken = item.last
        local head = head_of(item.stream)
        if item.after and item.after ~= digits(head) then return 'position' end
        if item.generation and lease_on(item.queue, item.stream) ~= item.generation then return 'generation' end
        heads[item.stream] = head + count
    end,

    insert_run = function(item)
        item.id, item.thread_id, item.user_id, item.key = take(), take(), take(), take_optional()
        item.state, item.task, item.is_active = take(), take(), take() == '1'
        item.created_at, item.row = take(), take_row()
        if run_of(item.id) then return 'exists' end
        local is_used, name
        if item.key then
            is_used, name = is_key_used(item.user_id, item.key)
            if is_used then return 'key' end
        end
        local thread = thread_of(item.thread_id)
        if item.is_active and thread and thread.active_run then return 'thread_busy' end
        if not thread then return 'missing' end
        runs[item.id] = { thread_id = item.thread_id, is_active = item.is_active, user_id = item.user_id, key = item.key }
        crowds[item.thread_id] = crowd_of(item.thread_id) + 1
        if name then keys[name] = true end
        settle_active(item.id, runs[item.id])
    end,

    update_run = function(item)
        item.id, item.state, item.is_active, item.generation = take(), take(), take() == '1', take_optional()
        item.outcome, item.row = take_optional(), take_row()
        local run = run_of(item.id)
        if not run then return 'missing' end
        if item.generation and lease_on('runs', item.id) ~= item.generation then return 'generation' end
        local thread = thread_of(run.thread_id)
        if item.is_active and not run.is_active and thread.active_run then return 'thread_busy' end
        run.is_active = item.is_active
        settle_active(item.id, run)
    end,

    insert_thread = function(item)
        item.id, item.user_id, item.created_at, item.row = take(), take(), take(), take_row()
        local thread = thread_of(item.id)
        if thread and thread.user_id ~= item.user_id then return 'exists' end
        item.is_new = not thread
        if item.is_new then threads[item.id] = { user_id = item.user_id, active_run = false } end
    end,

    put_snapshot = function(item)
        item.stream, item.position, item.fold_version, item.body = take(), take(), take(), take()
    end,

    put_payload = function(item)
        item.stream, item.digest, item.content = take(), take(), take()
    end,

    copy_payloads = function(item)
        item.source, item.target = take(), take()
        if head_of(item.source) == 0 then return 'missing' end
    end,

    enqueue = function(item)
        item.queue, item.item, item.due_at, item.row = take(), take(), take_optional(), take_row()
    end,

    release = function(item)
        item.queue, item.item, item.generation = take(), take(), take()
        item.due_at, item.note = take_optional(), take()
        if lease_on(item.queue, item.item) ~= item.generation then return 'generation' end
        leases[entry_key(item.queue, item.item)] = false
    end,

    delete_run = function(item)
        item.id, item.at = take(), take()
        local run = run_of(item.id)
        if not run then return 'missing' end
        if run.is_active then return 'active' end
        if item.at ~= digits(head_of(item.id)) then return 'position' end
        runs[item.id], heads[item.id], leases[entry_key('runs', item.id)] = false, 0, false
        crowds[run.thread_id] = crowd_of(run.thread_id) - 1
        if run.key then
            local _, name = is_key_used(run.user_id, run.key)
            keys[name] = false
        end
    end,

    delete_thread = function(item)
        item.id = take()
        local thread = thread_of(item.id)
        if not thread then return 'missing' end
        if crowd_of(item.id) > 0 then return 'thread_busy' end
        item.user_id = thread.user_id
        threads[item.id], heads[item.id] = false, 0
    end,

    sweep_payloads = function(item)
        local streams, digests = tonumber(take()), tonumber(take())
        item.streams, item.digests = {}, {}
        for n = 1, streams do item.streams[n] = take() end
        for n = 1, digests do item.digests[n] = take() end
    end,
}

local MOST_AT_ONCE = 1000 -- arguments of one call; Lua's stack holds 8,000

local function refer(stream, digest)
    if redis.call('SADD', root .. 'payloads_of:' .. stream, digest) == 1 then
        redis.call('HINCRBY', root .. 'payload_references', digest, 1)
    end
end

local function member_of(id)
    return string.format('%016.0f:', redis.call('INCR', root .. 'rows_made')) .. id
end

local function drop_payload_if_unreferenced(digest)
    if redis.call('HEXISTS', root .. 'payload_references', digest) == 0 then
        redis.call('DEL', root .. 'payload:' .. digest)
    end
end

-- Delete a stream with its snapshot and its payload references, and the payloads to which no other stream refers.
local function delete_stream(stream)
    local held = root .. 'payloads_of:' .. stream
    for _, digest in ipairs(redis.call('SMEMBERS', held)) do
        if redis.call('HINCRBY', root .. 'payload_references', digest, -1) < 1 then
            redis.call('HDEL', root .. 'payload_references', digest)
        end
        drop_payload_if_unreferenced(digest)
    end
    redis.call('DEL', held, root .. 'events:' .. stream, root .. 'snapshot:' .. stream)
end

local writes = {
    append = function(item)
        for first = item.first, item.last, MOST_AT_ONCE do
            local last = math.min(first + MOST_AT_ONCE - 1, item.last)
            redis.call('RPUSH', root .. 'events:' .. item.stream, unpack(ARGV, first, last))
        end
    end,

    insert_run = function(item)
        local key, member = root .. 'run:' .. item.id, member_of(item.id)
        redis.call('HSET', key, 'member', member, unpack(item.row))
        for _, list in ipairs({
            'runs', 'runs_of_user:' .. item.user_id, 'runs_of_thread:' .. item.thread_id,
            'runs_in_state:' .. item.state, 'runs_of_task:' .. item.task,
        }) do
            redis.call('ZADD', root .. list, item.created_at, member)
        end
        if item.key then redis.call('HSET', root .. 'keys_of:' .. item.user_id, item.key, item.id) end
        if item.is_active then redis.call('HSET', root .. 'thread:' .. item.thread_id, 'active_run', item.id) end
    end,

    update_run = function(item)
        local key = root .. 'run:' .. item.id
        local found = redis.call('HMGET', key, 'member', 'state', 'created_at', 'thread_id')
        local member, state, created_at, thread = found[1], found[2], found[3], root .. 'thread:' .. found[4]
        redis.call('HSET', key, unpack(item.row))
        if item.outcome then
            redis.call('HSET', key, 'outcome', item.outcome)
        else
            redis.call('HDEL', key, 'outcome')
        end
        if state ~= item.state then
            redis.call('ZREM', root .. 'runs_in_state:' .. state, member)
            redis.call('ZADD', root .. 'runs_in_state:' .. item.state, created_at, member)
        end
        if item.is_active then
            redis.call('HSET', thread, 'active_run', item.id)
        elseif redis.call('HGET', thread, 'active_run') == item.id then
            redis.call('HDEL', thread, 'active_run')
        end
    end,

    insert_thread = function(item)
        if not item.is_new then return end
        redis.call('HSET', root .. 'thread:' .. item.id, unpack(item.row))
        redis.call('ZADD', root .. 'threads_of:' .. item.user_id, item.created_at, member_of(item.id))
    end,

    put_snapshot = function(item)
        local key = root .. 'snapshot:' .. item.stream
        local found = redis.call('HGET', key, 'position')
        if found and tonumber(found) > tonumber(item.position) then return end
        redis.call('HSET', key, 'position', item.position, 'fold_version', item.fold_version, 'body', item.body)
    end,

    put_payload = function(item)
        redis.call('SETNX', root .. 'payload:' .. item.digest, item.content)
        refer(item.stream, item.digest)
    end,

    copy_payloads = function(item)
        for _, digest in ipairs(redis.call('SMEMBERS', root .. 'payloads_of:' .. item.source)) do
            refer(item.target, digest)
        end
    end,

    enqueue = function(item)
        local key = entry_key(item.queue, item.item)
        local found = redis.call('HMGET', key, 'generation', 'due_at', 'until')
        local generation, due_at, leased_until = found[1], found[2], found[3]
        if not generation then redis.call('HSET', key, unpack(item.row)) end
        if not item.due_at then return end
        if due_at and tonumber(due_at) <= tonumber(item.due_at) then return end
        redis.call('HSET', key, 'due_at', item.due_at)
        if not leased_until then
            redis.call('ZADD', root .. 'due:' .. item.queue, item.due_at, item.item)
            place(item.queue, item.item, item.due_at, false)
        end
    end,

    release = function(item)
        local key = entry_key(item.queue, item.item)
        local due_at = redis.call('HGET', key, 'due_at')
        if item.due_at and not (due_at and tonumber(due_at) <= tonumber(item.due_at)) then due_at = item.due_at end
        redis.call('HDEL', key, 'holder', 'until')
        redis.call('HSET', key, 'attempts', 0, 'note', item.note)
        redis.call('ZREM', root .. 'leased:' .. item.queue, item.item)
        if due_at then
            redis.call('HSET', key, 'due_at', due_at)
            redis.call('ZADD', root .. 'due:' .. item.queue, due_at, item.item)
        end
        place(item.queue, item.item, due_at, false)
    end,

    delete_run = function(item)
        local key = root .. 'run:' .. item.id
        local found = redis.call('HMGET', key, 'member', 'thread_id', 'user_id', 'state', 'task', 'key')
        local member, thread_id, user_id, state, task, used = unpack(found)
        for _, list in ipairs({
            'runs', 'runs_of_user:' .. user_id, 'runs_of_thread:' .. thread_id, 'runs_in_state:' .. state, 'runs_of_task:' .. task,
        }) do
            redis.call('ZREM', root .. list, member)
        end
        if used then redis.call('HDEL', root .. 'keys_of:' .. user_id, used) end
        if redis.call('HEXISTS', entry_key('runs', item.id), 'generation') == 1 then
            redis.call('ZREM', root .. 'due:runs', item.id)
            redis.call('ZREM', root .. 'leased:runs', item.id)
            place('runs', item.id, false, false)
        end
        redis.call('DEL', key, entry_key('runs', item.id))
        delete_stream(item.id)
    end,

    delete_thread = function(item)
        local key, list = root .. 'thread:' .. item.id, root .. 'threads_of:' .. item.user_id
        local created_at = redis.call('HGET', key, 'created_at')
        for _, member in ipairs(redis.call('ZRANGEBYSCORE', list, created_at, created_at)) do
            if id_of(member) == item.id then redis.call('ZREM', list, member) end
        end
        redis.call('DEL', key)
        delete_stream(item.id)
    end,

    sweep_payloads = function(item)
        for _, stream in ipairs(item.streams) do
            if redis.call('LLEN', root .. 'events:' .. stream) == 0 then delete_stream(stream) end
        end
        for _, digest in ipairs(item.digests) do drop_payload_if_unreferenced(digest) end
    end,
}

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
for _, item in ipairs(items) do writes[item.verb](item) end
-- Whoever may not publish must not stop a batch half way; others hear of it by looking again.
if wakeup ~= '' then redis.pcall('PUBLISH', root .. 'wakeup', wakeup) end
return 1
