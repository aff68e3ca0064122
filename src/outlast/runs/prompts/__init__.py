"""The words that models are given, one text file a role and purpose.

Prompts are pinned by digest when a run starts, so changing one never changes a run under way.

May import: Nothing: this room holds texts.
To add one: a text file named after the role that reads it.
"""
