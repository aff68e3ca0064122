"""Built-in tools, one file each, imported only when a task names it.

May import: `ports`, `domain`, third parties inside the tool that needs them.
To add one: one file with one tool; the tool contract runs over whatever is found here.
"""
