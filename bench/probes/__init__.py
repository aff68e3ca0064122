"""One measurement a module, each run in a process of its own; it prints one JSON line."""
