"""What is publicly known of models, one file a source.

May import: `ports`, `domain` and the library the source comes from. Another folder of adapters may not import this one.
To add one: a module with a function as `ports.catalogue.FindModel` describes, named in `wiring/adapters.py`.
"""
