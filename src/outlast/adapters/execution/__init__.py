"""How tools run: bound to one form, their arguments checked, plain functions in processes that can be killed.

May import: `ports`, `domain`, third parties for JSON Schema.
To add one: a new way to declare a tool is one more case in `binding.py`; the tool contract runs over it.
"""
