-- Did the commit that drew the number $2 append to the stream, after the position $3?
SELECT EXISTS (SELECT 1 FROM {schema}.events WHERE stream = $1 AND batch = $2 AND position > $3)
