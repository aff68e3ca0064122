-- One plan a connection for each statement of the function, whatever is asked for: a claim was planned anew each time, which took a
-- sixth of it.
ALTER FUNCTION {schema}.claim_by_shares SET plan_cache_mode = force_generic_plan;
