"""The nouns and laws of outlast: runs, plans, tasks, events, messages, errors.

Pure data and pure functions: no I/O, no clock, no third party.

May import: Nothing but the standard library and itself.
To add one: one noun a file, named in `docs/glossary.md`. A new event is a dataclass in `events/` and one
`apply` case; the type checker points at every place that must answer for it.
"""
