-- NOT INDEXED leaves the lookup by seq, and keeps DISTINCT from walking the whole index by stream.
SELECT DISTINCT stream FROM events NOT INDEXED WHERE seq > :seq
