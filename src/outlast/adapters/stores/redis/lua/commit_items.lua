-- Before commit: reads the items out of the arguments, and checks the guards of each.
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

    claim_due = function(item)
        item.queue, item.holder, item.lease, item.limit, item.reader = take(), take(), take(), take(), take()
        item.per_user, item.per_label = tonumber(take()), tonumber(take())
        item.named, item.by_shares = '', true
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
