"""What every store of memory needs: the terms of a text, how entries are weighed by words and by vectors, and how both are joined.

May import: `ports`, `domain`, numpy where it is installed.
To add one: nothing here is a seam; a new store uses it so that it finds what the others find.
"""
