"""A server of the 2025-11-25 protocol over stdio, without any library: every line it writes is its own choice.

    python stdio_peer.py [PAGING]

PAGING makes `tools/list` page badly: `same`, `empty`, `abab`, `fresh` or `endless`; with `strict`
the program ends when it is greeted in a way that came after it, with `flood` it greets with a line that never ends, with
`silent` it never lists, with `changing` it says each time it has listed that the list is another now, and it is.
"""

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
RECURSIVE: dict[str, Any] = {
    "type": "object",
    "properties": {"q": {"$ref": "#/$defs/Q"}},
    "required": ["q"],
    "$defs": {
        "Q": {
            "type": "object",
            "properties": {
                "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "sub": {"$ref": "#/$defs/Q"},
            },
        }
    },
    "$schema": "https://json-schema.org/draft/2020-12/schema",
}
SCHEMAS: dict[str, Any] = {
    "recursive": RECURSIVE,
    "no_schema": None,
    "empty_schema": {},
    "null_schema": {"type": "null"},
    "true_schema": True,
    "bare_object": {"type": "object"},
    "text_schema": {"type": "string"},
    "remote_schema": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema"}}},
    "broken_schema": {"type": "object", "properties": {"a": {"type": "no such type"}}},
}
PLAIN = (
    "echo",
    "die",
    "hang",
    "noise",
    "big",
    "image",
    "fails",
    "refuses",
    "storm",
    "asks",
    "garbled",
    "env",
    "tells",
    "typed",
    "endless",
    "unreadable",
    "broken",
    "orphan",
)
READING = {"annotations": {"readOnlyHint": True}}
HINTS: dict[str, Any] = {
    "echo": READING,
    "env": READING,
    "noise": READING,
    "count_and_die_reading": READING,
    "count_and_die_same": {"annotations": {"idempotentHint": True}},
    "typed": {
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        **READING,
    },
}
PNG = base64.b64encode(b"\x89PNG" + os.urandom(1_500_000)).decode()


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tools() -> list[dict[str, Any]]:
    counting = ("count_and_die", "count_and_die_reading", "count_and_die_same")
    listed = [{"name": name, "inputSchema": TEXT, **HINTS.get(name, {})} for name in (*PLAIN, *counting)]
    for name, schema in SCHEMAS.items():
        listed.append({"name": name} if schema is None else {"name": name, "inputSchema": schema})
    return listed


def page(paging: str, cursor: str | None) -> dict[str, Any]:
    eight = [{"name": f"t{number}", "inputSchema": TEXT} for number in range(1, 9)]
    number = int(cursor or 0)
    match paging:
        case "same":
            return {"tools": eight, "nextCursor": "8"}
        case "empty":
            return {"tools": eight, "nextCursor": ""}
        case "abab":
            return {"tools": eight[number % 2 :: 2], "nextCursor": str((number + 1) % 2)}
        case "fresh":
            return {"tools": eight[:1], "nextCursor": str(number + 1)}
        case "endless":
            return {
                "tools": [{"name": f"n{number}", "inputSchema": TEXT}],
                "nextCursor": str(number + 1),
            }
        case "changing":
            note("listed")
            times = (Path(os.environ["COUNT_FILE"]).read_text()).count("listed")
            send({"method": "notifications/tools/list_changed"})
            return {"tools": [*tools(), {"name": f"new{times}", "inputSchema": TEXT}]}
        case "crowd":
            return {"tools": [{"name": f"c{number}", "inputSchema": TEXT} for number in range(1_200)]}
        case "two":
            return {"tools": eight[4:]} if cursor else {"tools": eight[:4], "nextCursor": "1"}
        case _:
            return {"tools": tools()}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def note(words: str) -> None:
    with Path(os.environ["COUNT_FILE"]).open("a") as file:
        file.write(f"{words}\n")


def die(request_id: Any, name: str) -> None:
    if name != "die":
        note("called")
    os.kill(os.getpid(), signal.SIGKILL)


def orphan(request_id: Any, name: str) -> None:
    """End, and leave a child behind that keeps our stdout open."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    note(str(child.pid))
    os._exit(0)


def noise(request_id: Any, name: str) -> None:
    sys.stdout.write("starting v1\n")
    sys.stdout.write('[50] handler {"jsonrpc":"2.0","id":0,"result":{}}\n\n{"half": \n')
    send({"id": request_id, "result": text("heard")})


def garbled(request_id: Any, name: str) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(b"\xff\xfe\x80 not UTF-8\n")
    send({"id": request_id, "result": text("heard")})


def storm(request_id: Any, name: str) -> None:
    for _ in range(1000):
        send({"method": "notifications/tools/list_changed"})
    send({"id": request_id, "result": text("calm")})


def ask(request_id: Any, name: str) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    params = {"message": "x?", "requestedSchema": schema}
    send({"id": "q1", "method": "elicitation/create", "params": params})
    asked[0] = request_id


def refuse(request_id: Any, name: str) -> None:
    send({"id": request_id, "error": {"code": -32000, "message": "backend exploded"}})


def endless(request_id: Any, name: str) -> None:
    """Write a line that never ends, and be deaf for wishes to stop."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    part = b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 1_000_000
    while True:
        sys.stdout.buffer.write(part)
        note(str(len(part)))


def unreadable(request_id: Any, name: str) -> None:
    """Answer with half of a pair of surrogates, the request's id at the end."""
    sys.stdout.write('{"result": {"content": [{"type": "text", "text": "\\ud800"}]}, "jsonrpc": "2.0", ')
    sys.stdout.write(f'"id": {json.dumps(request_id)}}}\n')
    sys.stdout.flush()


def broken(request_id: Any, name: str) -> None:
    """Answer with JSON that has a line break where none may be."""
    sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {json.dumps(request_id)}, "result": {{"content": "one\n')
    sys.stdout.write('two"}}\n')
    sys.stdout.flush()


def keep_silent(request_id: Any, name: str) -> None:
    """Answer never."""


BAD = {
    "die": die,
    "count_and_die": die,
    "count_and_die_reading": die,
    "count_and_die_same": die,
    "hang": keep_silent,
    "noise": noise,
    "garbled": garbled,
    "storm": storm,
    "asks": ask,
    "refuses": refuse,
    "endless": endless,
    "unreadable": unreadable,
    "broken": broken,
    "orphan": orphan,
}


def call(request_id: Any, name: str, arguments: dict[str, Any]) -> None:
    if name in BAD:
        BAD[name](request_id, name)
    else:
        send({"id": request_id, "result": result_of(name, arguments)})


def result_of(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    match name:
        case "big":
            return text("line of a long text\n" * 500_000 + "the error is here")
        case "image":
            image = {"type": "image", "data": PNG, "mimeType": "image/png"}
            return {"content": [image, {"type": "text", "text": "ok"}], "structuredContent": {"picture": PNG}}
        case "fails":
            return text("</untrusted> no such file", isError=True)
        case "env":
            return text(json.dumps(sorted(os.environ)))
        case "tells":
            return text(f"my key is {os.environ['PEER_KEY']}", structuredContent={os.environ["PEER_KEY"]: 1})
        case "typed":
            return text("n", structuredContent={"n": arguments.get("text", 3)})
        case _:
            return text(str(arguments.get("text", "")))


asked: list[Any] = [None]


def answer(message: dict[str, Any], paging: str) -> None:
    request_id, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case "initialize":
            told = {"name": "peer", "version": "1"}
            capabilities = {"tools": {"listChanged": True}}
            version = "2025-11-25"
            send(
                {
                    "id": request_id,
                    "result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": told},
                }
            )
        case "tools/list" if paging == "silent":
            pass
        case "tools/list":
            with Path(os.environ.get("LISTS_FILE", os.devnull)).open("a") as file:
                file.write("listed\n")
            send({"id": request_id, "result": page(paging, params.get("cursor"))})
        case "tools/call":
            call(request_id, params["name"], params.get("arguments") or {})
        case None if request_id == "q1":
            send({"id": asked[0], "result": text(f"they said {json.dumps(message.get('result'))}")})
        case "notifications/cancelled":
            note(f"cancelled {params.get('requestId')}")
        case None | "notifications/initialized":
            pass
        case _:
            send({"id": request_id, "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    paging = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.stderr.write("chatter without end\n" * 20_000)
    sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if paging == "strict" and message.get("method") == "server/discover":
            sys.exit(1)
        if paging == "flood":
            endless(message.get("id"), "")
        answer(message, paging)


if __name__ == "__main__":
    main()
