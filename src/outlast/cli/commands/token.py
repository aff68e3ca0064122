"""Give access over HTTP, list who has it, or take it away."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import making_store, with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.domain.access import Scope
from outlast.domain.ages import age_in
from outlast.domain.ids import LOCAL_USER
from outlast.service.access import Grant, issue, list_tokens, revoke

app = App(name="token", help="Give access over HTTP, list who has it, or take it away.")

User = Annotated[str, Parameter(help="Whom it is for; runs and threads belong to that user.")]
Scopes = Annotated[
    list[Scope] | None,
    Parameter(name="--scope", help="read, write or admin; may be repeated. Left out: read and write."),
]
Expires = Annotated[
    str | None, Parameter(help="How long it is good, such as 90d; left out: until it is revoked.")
]
Label = Annotated[str, Parameter(help="What it is for, for the list.")]


@app.command
def create(
    *,
    user: User,
    scope: Scopes = None,
    expires: Expires = None,
    label: Label = "",
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Make a token for a user and print it. It is kept as a digest, so it is never shown again."""
    grant = Grant(
        user_id=user,
        scopes=scope or ["read", "write"],
        label=label,
        expires_at=datetime.now(UTC) + age_in(expires) if expires is not None else None,
    )
    issued = making_store(config, lambda store: issue(store, grant, secrets.token_bytes(40)))
    if json:
        document({"id": issued.credential.credential, "user": user, "token": issued.secret})
    else:
        out(issued.secret)
        note(
            f"Token {issued.credential.credential} of {user}: {', '.join(issued.credential.scopes)}. Keep it now."
        )
    return Exit.DONE


@app.command(name="list")
def list_(
    *,
    all_: Annotated[
        bool, Parameter(name="--all", help="Sessions of browsers too, and what has ended.")
    ] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """List the tokens, oldest first, without their secrets."""
    found = with_store(config, list_tokens)
    shown = [one for one in found if all_ or (one["kind"] == "token" and one["state"] == "live")]
    if json:
        document({"tokens": shown})
    elif shown:
        head = ("TOKEN", "KIND", "USER", "SCOPES", "STATE", "EXPIRES", "LAST USED", "LABEL")
        out("\n".join(aligned(map(_row, shown), head)))
    else:
        note("No tokens.")
    return Exit.DONE


@app.command(name="revoke")
def revoke_(
    token: Annotated[str, Parameter(help="Id of the token, as `token list` shows it.")],
    /,
    *,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Take a token away, and end every session it opened. Streams that are open end within a minute."""
    with_store(config, lambda store: revoke(store, token, LOCAL_USER))
    if json:
        document({"id": token, "state": "ended"})
    else:
        note(f"{token} is good for nothing any more.")
    return Exit.DONE


def _row(one: dict[str, str]) -> tuple[str, ...]:
    times = [(one[name] or "-")[:16].replace("T", " ") for name in ("expires_at", "last_used_at")]
    return (one["id"], one["kind"], one["user"], ",".join(one["scopes"]), one["state"], *times, one["label"])
