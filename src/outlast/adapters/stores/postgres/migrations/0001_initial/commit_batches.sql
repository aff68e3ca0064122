-- Write batches side by side: each in all its items or not at all. Returns those that were refused, counted from 0, with the
-- place of the item whose guard failed. `skip` counts the payloads of the batches before. What `notices` of a batch say, channel
-- and text, is told to who listens once everything is durable.
CREATE FUNCTION {schema}.commit_batches(batches jsonb, contents bytea[])
RETURNS TABLE (batch integer, item integer, guard text)
LANGUAGE plpgsql AS $$
DECLARE
    one jsonb;
    part jsonb;
BEGIN
    batch := 0;
    FOR one IN SELECT value FROM jsonb_array_elements(batches) LOOP
        item := 0;
        IF jsonb_array_length(one->'items') = 1 THEN
            part := one->'items'->0;
            guard := {schema}.write_item(
                part, (one->>'id')::bigint, contents[(one->>'skip')::integer + (part->>'content')::integer]
            );
        ELSE
            BEGIN
                FOR part IN SELECT value FROM jsonb_array_elements(one->'items') LOOP
                    guard := {schema}.write_item(
                        part, (one->>'id')::bigint, contents[(one->>'skip')::integer + (part->>'content')::integer]
                    );
                    IF guard IS NOT NULL THEN
                        RAISE EXCEPTION USING ERRCODE = 'OL001', MESSAGE = 'refused';
                    END IF;
                    item := item + 1;
                END LOOP;
            EXCEPTION
                WHEN SQLSTATE 'OL001' THEN NULL;
            END;
        END IF;
        IF guard IS NULL THEN
            PERFORM pg_notify(notice->>0, notice->>1) FROM jsonb_array_elements(one->'notices') AS told (notice);
        ELSE
            RETURN NEXT;
        END IF;
        batch := batch + 1;
    END LOOP;
END $$;
