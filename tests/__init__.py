"""The proofs of outlast. `unit/` mirrors `src/`; `architecture/` holds the shape of the repository."""
