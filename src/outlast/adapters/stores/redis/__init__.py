"""The Redis store: one server (Redis 6.2 or newer, Valkey), any number of processes and machines.

`store.py` is the port's face. `writer.py` sends what is pending in rounds and finds out what became of a round whose connection was
lost; `reader.py` reads beside it; `listener.py` hears of the commits of other processes. Each has a thread and a connection of its
own, so that any event loop may call. The scripts in `lua/` hold every guard; `encoding.py` and `decoding.py` turn what the port says
into their arguments and back.

All keys begin with `{outlast:NAME}:`. Times are whole microseconds since 1970-01-01 UTC, by the server's clock.

    store                      hash: schema
    rows_made                  the number of rows inserted so far
    events:STREAM              list: one text an event; the position is its place
    snapshot:STREAM            hash: position, fold_version, body
    payload:DIGEST             the content
    payloads_of:STREAM         set of digests
    payload_references         hash: digest to the number of streams that refer to it
    thread:ID                  hash: the row, and active_run
    threads_of:USER            sorted set by creation
    run:ID                     hash: the row, and member (its name in the lists below)
    keys_of:USER               hash: idempotency key to run
    runs, runs_of_user:USER, runs_of_thread:ID, runs_in_state:STATE, runs_of_task:TASK
                               sorted sets by creation
    entry:LENGTH:QUEUE:ITEM    hash: generation, attempts, due_at, holder, until, user_id, label, note
    due:QUEUE, leased:QUEUE    sorted sets of items nobody holds by due_at, and of those held by until
    ready:LENGTH:QUEUE:LENGTH:USER LABEL, groups:QUEUE
                               sorted sets for claims by shares: the items of a user and label by when they can be claimed, and
                               all such groups by their first
    leases_of_user:LENGTH:QUEUE:USER, leases_of_label:LENGTH:QUEUE:LABEL
                               sorted sets of items by until
    writer:ID                  hash: fence, and for each slot of a round the last round whose batch was written; expires
    wakeup                     the channel on which commits tell their topics

May import: `ports`, `domain`, redis.
To add one: a script in `lua/`, its line in `scripts.py`, its arguments and reply here.
"""

from outlast.adapters.stores.redis.store import RedisStore

__all__ = ["RedisStore"]
