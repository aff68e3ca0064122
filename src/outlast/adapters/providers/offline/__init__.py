"""`provider: offline`: a model that needs no network, no key and no download.

It is extractive: it plans from the words of the question, searches, quotes sentences word for word and names what
disagrees and what is missing. Its answer is a pure function of the request, so a run that crashed and went on ends with the
same report. It obeys nothing that stands inside a fence of untrusted text.

May import: `ports`, `domain`, the standard library.
To add one: a purpose is a function listed in `provider`; a language is stop words in `words`, phrases in `phrases` and cue
words in `facets`.
"""

from outlast.adapters.providers.offline.provider import OfflineProvider

__all__ = ["OfflineProvider"]
