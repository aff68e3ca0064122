"""Embedding without a network: a small model where the extra `memory` is installed, else the letters of the text.

May import: `ports`, `domain`; onnxruntime, numpy and the model only inside functions.
To add one: a file with an `Embedder`, chosen in `choice.py`; vectors it makes carry a name of their own.
"""
