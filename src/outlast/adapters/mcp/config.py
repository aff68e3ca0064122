"""What is known of a server before it is asked anything: how to reach it, as whom, and what is special about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import canonical_json, digest_of

LEAST_READY_SECONDS: Final = 20.0
"""How long a server has at least to be ready where nothing else is configured: a program's start takes its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """An identity of our own at an authorization server, which gives tokens for it (OAuth 2.1 client credentials)."""

    client_id: str
    client_secret: str = field(repr=False)
    issuer: str
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTools:
    """Ordinary tools of a server that together are a background task, by their names there."""

    submit: str
    status: str
    cancel: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """A server as it is configured, references resolved. Exactly one of `url` and `command` is given.

    `identity` says as whom it is used without giving a secret away: names of references and clients, never values. Units: seconds.
    """

    name: str
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    oauth: ClientCredentials | None = None
    identity: tuple[str, ...] = ()
    timeout_seconds: float = 30.0
    ready_timeout_seconds: float | None = None
    task_tools: tuple[TaskTools, ...] = ()
    has_experimental_tasks: bool = False

    @property
    def ready_seconds(self) -> float:
        """The longest a connection may take to be ready, a program's start included, and the list of tools to come."""
        return self.ready_timeout_seconds or max(self.timeout_seconds, LEAST_READY_SECONDS)

    @property
    def hidden(self) -> frozenset[str]:
        """Tools that no model sees: they look after tasks."""
        groups = self.task_tools
        return frozenset(name for one in groups for name in (one.status, one.cancel, one.answer) if name)

    @property
    def fingerprint(self) -> str:
        """A digest of everything that makes a server what it is to a run, secrets included; kept in memory alone."""
        oauth = self.oauth and [
            self.oauth.client_id,
            self.oauth.client_secret,
            self.oauth.issuer,
            self.oauth.scope,
        ]
        parts = [
            self.name,
            self.url,
            self.command,
            [*self.args],
            dict(self.env),
            str(self.cwd),
            dict(self.headers),
        ]
        return digest_of(
            canonical_json(
                [
                    *parts,
                    oauth,
                    self.timeout_seconds,
                    self.ready_timeout_seconds,
                    self.has_experimental_tasks,
                    [repr(one) for one in self.task_tools],
                ]
            )
        )

    @property
    def principal(self) -> str:
        """A digest of where the server is and as whom it is used. A new secret for the same identity does not change it."""
        return digest_of(canonical_json([self.url or self.command, [*self.identity]]))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown, whoever says it: header values, the client's secret, variables with the name of a credential;
        longest first."""
        known = [
            *self.headers.values(),
            *(value for key, value in self.env.items() if _CREDENTIAL.search(key)),
        ]
        known += [self.oauth.client_secret] if self.oauth else []
        words = [word for value in known for word in (value, *value.split())]
        return tuple(sorted({word for word in words if len(word) >= _LEAST_SECRET}, key=len, reverse=True))


_LEAST_SECRET: Final = 6
_CREDENTIAL: Final = re.compile(r"(?i)key|token|secret|pass|pwd|auth|credential|cookie|dsn")


def without_secrets(text: str, secrets: tuple[str, ...]) -> str:
    """`text` with every secret masked."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
