"""The model providers a configuration names, one instance an endpoint however many roles share it."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.domain.errors import CallerMistake
from outlast.ports.provider import Provider
from outlast.wiring.adapters import BREAKER, PROVIDERS, symbol
from outlast.wiring.settings.models import ROLES, missing_setting, options_of
from outlast.wiring.settings.tree import Llm, Settings


class Models:
    """Providers by role. With `given`, that one serves every role whatever the configuration says."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], given: Provider | None = None) -> None:
        self._settings = settings
        self._environ = environ
        self._given = given
        self._by_llm: dict[tuple[object, ...], Provider] = {}
        self._by_role: dict[tuple[str, int], Provider] = {}

    def of(self, role: str, option: int = 0) -> Provider:
        """The provider of a role's model or of a fallback; a role nobody configured uses those of the executor.

        Raises CallerMistake: `missing_variable`, `missing_setting`, `not_there_yet`, `invalid_script`.
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
            self._by_llm[key] = self._new(llm)
        return self._by_llm[key]

    def _new(self, llm: Llm) -> Provider:
        place = PROVIDERS.get(llm.provider)
        if place is None:
            detail = f"llm.provider is {llm.provider}, which this version of outlast does not have yet."
            raise CallerMistake("not_there_yet", detail, f"Use one of {', '.join(PROVIDERS)}.")
        kind = symbol(place)
        provider: Provider
        if llm.provider == "openai_compatible":
            provider = symbol(BREAKER)(
                kind(
                    *self._endpoint(llm),
                    timeout_seconds=llm.timeout_seconds,
                    idle_timeout_seconds=llm.idle_timeout_seconds,
                )
            )
        elif llm.provider == "scripted":
            if llm.script is None:
                raise missing_setting("llm.script", "File with the scripted answers.")
            provider = kind.from_file(self._settings.path(llm.script, self._environ))
        else:
            provider = kind()
        return provider

    def _endpoint(self, llm: Llm) -> tuple[str, str | None]:
        if llm.base_url is None:
            raise missing_setting(
                "llm.base_url", "Address of the endpoint, up to and without `/chat/completions`."
            )
        key = llm.api_key.resolve(self._environ) if llm.api_key is not None else None
        return llm.base_url.resolve(self._environ), key
