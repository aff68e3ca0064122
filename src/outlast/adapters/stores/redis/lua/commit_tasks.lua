-- Before commit: the items of background tasks, read, checked and written.
local tasks, task_names, task_remotes = {}, {}, {}

local function task_of(id)
    if tasks[id] == nil then
        local found = redis.call('HMGET', root .. 'task:' .. id, 'revision', 'thread_id', 'name', 'user_id', 'server', 'remote_id')
        tasks[id] = found[1] and {
            revision = found[1], thread_id = found[2], name = found[3], user_id = found[4], server = found[5], remote_id = found[6],
        }
    end
    return tasks[id]
end

local function remotes_key(user_id)
    return root .. 'task_remotes:' .. user_id
end

local function remote_field(server, remote_id)
    return #server .. ':' .. server .. remote_id
end

-- Which task has this name in its thread, else false.
local function named_task(thread_id, name)
    local key = #thread_id .. ':' .. thread_id .. name
    if task_names[key] == nil then task_names[key] = redis.call('HGET', root .. 'task_names:' .. thread_id, name) end
    return task_names[key], key
end

-- Which task of a user has this remote id, else false.
local function remote_task(user_id, server, remote_id)
    local key = #user_id .. ':' .. user_id .. remote_field(server, remote_id)
    if task_remotes[key] == nil then
        task_remotes[key] = redis.call('HGET', remotes_key(user_id), remote_field(server, remote_id))
    end
    return task_remotes[key], key
end

local function settle_remote(id, task, value)
    if task.remote_id then
        local _, key = remote_task(task.user_id, task.server, task.remote_id)
        task_remotes[key] = value
    end
end

-- The lists a task is in, by what may change and what may not.
local function task_lists(task)
    return {
        'tasks', 'tasks_of_user:' .. task.user_id, 'tasks_of_thread:' .. task.thread_id, 'tasks_of_run:' .. task.run_id,
        'tasks_in_status:' .. task.status, 'tasks_tracked_as:' .. task.tracking, 'tasks_notified_as:' .. task.notification,
        'tasks_open:' .. task.is_open,
        'tasks_undelivered:' .. (tonumber(task.event_version) > tonumber(task.notified_version) and '1' or '0'),
    }
end

local LISTED = {
    'user_id', 'thread_id', 'run_id', 'status', 'tracking', 'notification', 'is_open', 'event_version', 'notified_version',
    'created_at', 'member', 'name', 'server', 'remote_id',
}

local function stored_task(id)
    local found = redis.call('HMGET', root .. 'task:' .. id, unpack(LISTED))
    local task = {}
    for n, field in ipairs(LISTED) do task[field] = found[n] end
    return task
end

local function fields_of(row)
    local fields = {}
    for n = 1, #row, 2 do fields[row[n]] = row[n + 1] end
    return fields
end

local function list_task(task)
    for _, list in ipairs(task_lists(task)) do redis.call('ZADD', root .. list, task.created_at, task.member) end
end

local function unlist_task(task)
    for _, list in ipairs(task_lists(task)) do redis.call('ZREM', root .. list, task.member) end
end

function checks.insert_task(item)
    item.id, item.row = take(), take_row()
    local task = fields_of(item.row)
    if task_of(item.id) then return 'exists' end
    local is_used, name = named_task(task.thread_id, task.name)
    if is_used then return 'name' end
    if task.remote_id and remote_task(task.user_id, task.server, task.remote_id) then return 'remote' end
    task.remote_id = task.remote_id or false
    task_names[name], task.revision, tasks[item.id] = item.id, '1', task
    settle_remote(item.id, task, item.id)
end

function checks.update_task(item)
    item.id, item.after, item.result = take(), take(), take_optional()
    item.queue, item.generation, item.row = take(), take_optional(), take_row()
    local task, fresh = task_of(item.id), fields_of(item.row)
    if not task then return 'missing' end
    if task.revision ~= item.after then return 'revision' end
    if item.generation and lease_on(item.queue, item.id) ~= item.generation then return 'generation' end
    if fresh.remote_id then
        local taken_by = remote_task(task.user_id, fresh.server, fresh.remote_id)
        if taken_by and taken_by ~= item.id then return 'remote' end
    end
    settle_remote(item.id, task, false)
    task.revision, task.server, task.remote_id = digits(tonumber(item.after) + 1), fresh.server, fresh.remote_id or false
    settle_remote(item.id, task, item.id)
end

function checks.delete_task(item)
    item.id, item.after, item.queues = take(), take(), take_row()
    local task = task_of(item.id)
    if not task then return 'missing' end
    if task.revision ~= item.after then return 'revision' end
    local _, name = named_task(task.thread_id, task.name)
    settle_remote(item.id, task, false)
    task_names[name], tasks[item.id] = false, false
    for _, queue in ipairs(item.queues) do leases[entry_key(queue, item.id)] = false end
end

function writes.insert_task(item)
    local task = fields_of(item.row)
    redis.call('HSET', root .. 'task:' .. item.id, 'revision', '1', 'member', member_of(item.id), unpack(item.row))
    redis.call('HSET', root .. 'task_names:' .. task.thread_id, task.name, item.id)
    if task.remote_id then
        redis.call('HSET', remotes_key(task.user_id), remote_field(task.server, task.remote_id), item.id)
    end
    list_task(stored_task(item.id))
end

function writes.update_task(item)
    local key, old, fresh = root .. 'task:' .. item.id, stored_task(item.id), fields_of(item.row)
    if old.server ~= fresh.server or old.remote_id ~= (fresh.remote_id or false) then
        if old.remote_id then redis.call('HDEL', remotes_key(old.user_id), remote_field(old.server, old.remote_id)) end
        if fresh.remote_id then
            redis.call('HSET', remotes_key(old.user_id), remote_field(fresh.server, fresh.remote_id), item.id)
        end
        redis.call('HDEL', key, 'remote_id')
    end
    unlist_task(old)
    redis.call('HSET', key, 'revision', digits(tonumber(item.after) + 1), unpack(item.row))
    list_task(stored_task(item.id))
    if item.result then redis.call('HSET', root .. 'task_results', item.id, item.result) end
end

function writes.delete_task(item)
    local task = stored_task(item.id)
    unlist_task(task)
    redis.call('HDEL', root .. 'task_names:' .. task.thread_id, task.name)
    if task.remote_id then redis.call('HDEL', remotes_key(task.user_id), remote_field(task.server, task.remote_id)) end
    for _, queue in ipairs(item.queues) do delete_entry(queue, item.id) end
    redis.call('HDEL', root .. 'task_results', item.id)
    redis.call('DEL', root .. 'task:' .. item.id)
end
