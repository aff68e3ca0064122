-- Claims what claiming.lua, which comes before this text, says.
-- Arguments: queue, holder, lease in microseconds, limit, reader, '' or '=' and the item, generation to take over ('': none),
-- '1' for shares, and the bounds for one user and one label ('': none).
local queue, holder, lease, limit, reader, named, evicted = unpack(ARGV)
return claim({
    queue = queue,
    holder = holder,
    lease = lease,
    limit = limit,
    reader = reader,
    named = named,
    evicted = evicted,
    by_shares = ARGV[8] == '1',
    per_user = tonumber(ARGV[9]),
    per_label = tonumber(ARGV[10]),
})
