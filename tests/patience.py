"""How long tests wait for what must come, and what counts as at once on a machine that is busy with other tests."""

PATIENCE_SECONDS = 60.0
"""What must come is waited for this long. Only a broken promise takes as long, so a longer wait costs nothing."""

PROMPT_SECONDS = 4.0
"""What is promised within a second: a busy machine may take longer, and what only a look now and then finds takes 5 seconds."""
