"""The model providers a configuration names, one instance an endpoint however many roles share it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final

from outlast.domain.errors import CallerMistake
from outlast.ports.provider import Provider
from outlast.wiring.adapters import (
    BREAKER,
    CHECKED,
    CIRCUIT,
    KNOWN_DIALECTS,
    PROVIDERS,
    RECORDER,
    RECORDING,
    symbol,
)
from outlast.wiring.settings.models import ROLES, missing_setting, options_of
from outlast.wiring.settings.text import Secret
from outlast.wiring.settings.tree import Llm, Settings
from outlast.wiring.settings.walk import texts_of
from outlast.wiring.stores import database_path

KNOWN_MODELS: Final = "models.json"
"""The file, beside the database, that keeps what was learned of models."""


class Endpoints:
    """What runs of a process share about endpoints: which are away, how each is spoken to, and the file calls are recorded in."""

    def __init__(self, recording: Any = None, known_at: Path | None = None) -> None:
        self._recording = recording
        self._known_at = known_at
        self._circuits: dict[str, Any] = {}
        self._dialects: dict[str, Any] = {}

    @classmethod
    def recorded(cls, path: Path | None, settings: Settings, environ: Mapping[str, str]) -> Endpoints:
        """Endpoints whose calls go to a recording at `path` (None: to none). What is learned of them is kept beside the database.

        Raises CallerMistake as `Recording` does.
        """
        recording = symbol(RECORDING)(path, secrets_of(settings, environ)) if path is not None else None
        is_file = settings.harness.persistence.backend == "sqlite"
        return cls(recording, database_path(settings, environ).with_name(KNOWN_MODELS) if is_file else None)

    def guarded(self, provider: Provider, base_url: str) -> Provider:
        """A provider behind the breaker of its endpoint."""
        circuit = self._circuits.setdefault(base_url, symbol(CIRCUIT)())
        guarded: Provider = symbol(BREAKER)(provider, circuit)
        return guarded

    def dialects(self, base_url: str) -> MutableMapping[str, Any]:
        """What was learned of the models at an address: each is found out once, by one of all processes where they share a file."""
        if base_url not in self._dialects:
            at = self._known_at
            self._dialects[base_url] = symbol(KNOWN_DIALECTS)(at, base_url) if at is not None else {}
        known: MutableMapping[str, Any] = self._dialects[base_url]
        return known

    def heard(self, provider: Provider) -> Provider:
        """A provider whose calls are recorded, where they are to be."""
        if self._recording is None:
            return provider
        heard: Provider = symbol(RECORDER)(provider, self._recording)
        return heard

    def close(self) -> None:
        """Close the recording."""
        if self._recording is not None:
            self._recording.close()


class Models:
    """Providers by role. With `given`, that one serves every role whatever the configuration says."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        given: Provider | None = None,
        endpoints: Endpoints | None = None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._endpoints = endpoints or Endpoints()
        self._given = self._endpoints.heard(symbol(CHECKED)(given)) if given is not None else None
        self._by_llm: dict[tuple[object, ...], Provider] = {}
        self._by_role: dict[tuple[str, int], Provider] = {}

    def of(self, role: str, option: int = 0) -> Provider:
        """The provider of a role's model or of a fallback; a role nobody configured uses those of the executor.

        Raises CallerMistake: `missing_variable`, `missing_setting`, `invalid_script`, `invalid_recording`.
        """
        if self._given is not None:
            return self._given
        known = self._by_role.get((role, option))
        if known is None:
            options = options_of(self._settings, role if role in ROLES else "executor")
            known = self._shared(options[min(option, len(options) - 1)])
            self._by_role[role, option] = known
        return known

    async def close(self) -> None:
        """Close every provider that was built."""
        for provider in self._by_llm.values():
            await provider.close()

    def _shared(self, llm: Llm) -> Provider:
        key = (
            llm.provider,
            llm.base_url,
            llm.api_key,
            llm.script,
            llm.timeout_seconds,
            llm.idle_timeout_seconds,
        )
        if key not in self._by_llm:
            self._by_llm[key] = self._endpoints.heard(self._new(llm))
        return self._by_llm[key]

    def _new(self, llm: Llm) -> Provider:
        kind = symbol(PROVIDERS[llm.provider])
        provider: Provider
        match llm.provider:
            case "openai_compatible":
                provider = self._endpoint(kind, llm)
            case "scripted":
                provider = kind.from_file(self._script(llm))
            case "replay":
                provider = kind.from_file(self._script(llm), secrets_of(self._settings, self._environ))
            case "offline":
                provider = kind()
        return provider

    def _script(self, llm: Llm) -> Path:
        if llm.script is None:
            raise missing_setting("llm.script", "File with the scripted answers, or the recording.")
        return self._settings.path(llm.script, self._environ)

    def _endpoint(self, kind: Any, llm: Llm) -> Provider:
        if llm.base_url is None:
            meaning = "Address of the endpoint, up to and without `/chat/completions`."
            raise missing_setting("llm.base_url", meaning)
        base_url = llm.base_url.resolve(self._environ)
        key = llm.api_key.resolve(self._environ) if llm.api_key is not None else None
        provider = kind(
            base_url,
            key,
            timeout_seconds=llm.timeout_seconds,
            idle_timeout_seconds=llm.idle_timeout_seconds,
            dialects=self._endpoints.dialects(base_url),
        )
        return self._endpoints.guarded(provider, base_url)


def secrets_of(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Every secret of a configuration whose variables are set."""
    for text in texts_of(settings):
        if isinstance(text, Secret) and not list(text.missing(environ)):
            try:
                yield text.resolve(environ)
            except CallerMistake:
                continue
