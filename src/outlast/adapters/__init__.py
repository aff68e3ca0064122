"""The edges: one folder a seam, one file or folder a kind. The only room that knows vendors.

May import: `ports`, `domain`, third parties. Folders do not import one another.
To add one: a file that implements one port; the port's contract suite proves it.
"""
