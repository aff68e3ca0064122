"""Reports in the forms people and programs read: JSON, Markdown and HTML. Pure functions of a `Report`.

Everything in a report may come from pages nobody has checked, so each form escapes all of it in one place of its own.

May import: `domain`.
To add one: a form is a file here with one public function; a language is an entry in `labels`.
"""
