"""CPU time to read a streamed answer of one megabyte, as text and as the arguments of a call."""

import time

from outlast.adapters.providers.openai_compatible.chunks import Assembly
from outlast.adapters.providers.openai_compatible.stream import EventReader
from outlast.domain.message import Message
from outlast.ports.provider import ModelRequest
from tests.fake_endpoint import DONE, delta, sse

MEGABYTE = 1024 * 1024
NETWORK_PIECE_BYTES = 4096
REQUEST = ModelRequest(
    call_id="c", purpose="chat", role="executor", model="m", messages=(Message("user", "Go"),)
)
HEAD = {"id": "chatcmpl-123", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def stream_of(**piece: object) -> bytes:
    """A stream of about a megabyte of equal pieces, each as long on the wire as servers send them."""
    one = sse(HEAD | delta(None, **piece))
    return one * (MEGABYTE // len(one)) + sse(delta("stop"), DONE)


def cpu_ms(stream: bytes) -> float:
    """CPU milliseconds from bytes to answer; the best of five."""
    return min(_once(stream) for _ in range(5))


def _once(stream: bytes) -> float:
    started = time.process_time()
    reader, assembly = EventReader(), Assembly(REQUEST, {})
    for at in range(0, len(stream), NETWORK_PIECE_BYTES):
        for event in reader.feed(stream[at : at + NETWORK_PIECE_BYTES]):
            assembly.take(event)
    assembly.answer()
    return (time.process_time() - started) * 1000


if __name__ == "__main__":
    arguments = [{"index": 0, "function": {"arguments": "some text "}}]
    streams = {"text": stream_of(content="some text 市场 "), "arguments": stream_of(tool_calls=arguments)}
    for name, stream in streams.items():
        print(
            f"{name:>10}  {len(stream) / MEGABYTE:.2f} MB  {stream.count(b'data:')} events  {cpu_ms(stream):.1f} ms"
        )
