"""Reading: bytes of unknown make in, text out, whatever their name or label claims.

What a file is, is decided by its first bytes. HTML and PDF are taken apart in a process of their own that is killed when it
takes too long.
May import: `domain`; `lxml`, `readability`, `html_to_markdown` and `pypdfium2` inside `child` and what it calls.
To add one: a kind in `sniff`, its converter beside `pdf_files`, one line in `child`.
"""
