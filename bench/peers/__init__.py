"""The same loop written for others, as their own documentation says. Run by the interpreter in OUTLAST_BENCH_PEERS_PYTHON."""
