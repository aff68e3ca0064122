"""How long tests wait for what must come, and what counts as at once on a machine that is busy with other tests."""

PATIENCE_SECONDS = 60.0
"""What must come is waited for this long. Only a broken promise takes as long, so a longer wait costs nothing."""

PROMPT_SECONDS = 15.0
"""What is promised within a second may take as long on a busy machine. Without the promise it must take longer still: a test
has those who look now and then look once an hour, or what hangs hang for ever."""
