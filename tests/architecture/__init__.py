"""The shape of the repository, held by tests.

`source.py` reads modules, `rules.py` has pure functions from a module to complaints, `test_tree.py` runs every
rule over the tree, `test_rules.py` shows that every rule can fail. A new rule is one function, one bad example.
"""
