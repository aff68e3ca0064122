"""Ports of this machine for servers that are reached over TCP."""

import socket


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens, until somebody takes it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
