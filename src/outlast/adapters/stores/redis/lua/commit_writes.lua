-- Before commit: writes an item whose guards have passed.

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

local function delete_entry(queue, item)
    local key = entry_key(queue, item)
    if redis.call('HEXISTS', key, 'generation') == 0 then return end
    redis.call('ZREM', root .. 'due:' .. queue, item)
    redis.call('ZREM', root .. 'leased:' .. queue, item)
    place(queue, item, false, false)
    redis.call('DEL', key)
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
        delete_entry('runs', item.id)
        redis.call('DEL', key)
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
