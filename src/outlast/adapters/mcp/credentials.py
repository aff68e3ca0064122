"""Tokens for a server that wants them: asked for with the client's own credentials, kept in memory, asked for again when refused."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from outlast.adapters.mcp.config import ClientCredentials
from outlast.adapters.mcp.exchange import CURRENT

_TROUBLES: Final = (OAuthFlowError, httpx2.HTTPError, ValueError, KeyError)


class TokensInMemory:
    """Tokens for as long as the process lives; a new process asks for new ones."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, if there are any."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens."""
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Nothing: the client is configured, never registered."""
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep nothing."""


class CredentialsAuth(httpx2.Auth):
    """Sends a token with every request.

    Where none can be had the request goes out as it is, so that the server's refusal is what the caller sees, and the reason is
    noted in the exchange.
    """

    requires_response_body = True

    def __init__(self, url: str, credentials: ClientCredentials) -> None:
        self._provider = ClientCredentialsOAuthProvider(
            server_url=url,
            storage=TokensInMemory(),
            client_id=credentials.client_id,
            client_secret=credentials.client_secret,
            scope=credentials.scope,
            issuer=credentials.issuer,
        )

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The requests of one flow: discovery and token where needed, then the request itself."""
        flow = self._provider.async_auth_flow(request)
        try:
            wanted = await anext(flow)
            while True:
                response = yield wanted
                wanted = await flow.asend(response)
        except StopAsyncIteration:
            return
        except _TROUBLES as error:
            if (exchange := CURRENT.get()) is not None:
                exchange.refusal = error
            request.headers.pop("authorization", None)
            yield request
        finally:
            await flow.aclose()
