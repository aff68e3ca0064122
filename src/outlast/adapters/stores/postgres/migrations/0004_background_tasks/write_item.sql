-- The guard that failed, or null when the item is written.
CREATE OR REPLACE FUNCTION {schema}.write_item(item jsonb, of_batch bigint, content bytea) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    CASE item->>'is'
        WHEN 'Append' THEN RETURN {schema}.append_events_if_at(item, of_batch);
        WHEN 'UpdateRun' THEN RETURN {schema}.update_run_if_generation(item);
        WHEN 'PutPayload' THEN RETURN {schema}.put_payload_if_absent(item, content);
        WHEN 'PutSnapshot' THEN RETURN {schema}.put_snapshot_if_newer(item);
        WHEN 'Enqueue' THEN RETURN {schema}.enqueue_no_later(item);
        WHEN 'Release' THEN RETURN {schema}.release_if_generation(item);
        WHEN 'InsertRun' THEN RETURN {schema}.insert_run_if_allowed(item);
        WHEN 'InsertThread' THEN RETURN {schema}.insert_thread_unless_anothers(item);
        WHEN 'CopyPayloads' THEN RETURN {schema}.copy_payload_references(item);
        WHEN 'DeleteRun' THEN RETURN {schema}.delete_run_if_ended(item);
        WHEN 'DeleteThread' THEN RETURN {schema}.delete_thread_without_runs(item);
        WHEN 'SweepPayloads' THEN RETURN {schema}.sweep_payloads(item);
        WHEN 'InsertTask' THEN RETURN {schema}.insert_task_if_free(item);
        WHEN 'UpdateTask' THEN RETURN {schema}.update_task_if_at(item);
        WHEN 'DeleteTask' THEN RETURN {schema}.delete_task_if_at(item);
    END CASE;
END $$;
