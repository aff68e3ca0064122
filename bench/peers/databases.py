"""A database of its own for each measurement of a peer, so that none finds what another left."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg


@contextmanager
def fresh_database(url: str) -> Iterator[str]:
    """The address of an empty database on the server at `url`, gone after use."""
    name = f"peer_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(url)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
