"""The local corpus: a folder of documents, searched and read offline.

Addresses are `corpus://relative/path`. The index is a cache that can be deleted at any time; the folder is the truth.
May import: `ports`, `domain`, `outlast.adapters.search.reading`.
To add one: another kind of corpus is a folder beside this one; another format of document is a converter in `reading`.
"""

from outlast.adapters.search.corpus.corpus_search import CorpusSearch

__all__ = ["CorpusSearch"]
