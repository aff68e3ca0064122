"""A server of the settings, as the adapter wants it."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.adapters.mcp.config import ClientCredentials, ServerConfig, TaskTools
from outlast.domain.tool_call import Effect
from outlast.wiring.settings.parts import McpOauth, McpServer
from outlast.wiring.settings.tree import Settings


def config_of(name: str, settings: Settings, environ: Mapping[str, str]) -> ServerConfig:
    """A server as the adapter wants it. Raises CallerMistake (`missing_variable`) for a reference that leads nowhere."""
    server = settings.mcp_servers[name]
    return ServerConfig(
        name=name,
        url=server.url.resolve(environ) if server.url else None,
        command=server.command.resolve(environ) if server.command else None,
        args=tuple(argument.resolve(environ) for argument in server.args),
        env={key: value.resolve(environ) for key, value in server.env.items()},
        cwd=settings.home,
        headers={key: value.resolve(environ) for key, value in server.headers.items()},
        oauth=_credentials(server.oauth, environ) if server.oauth else None,
        identity=_identity(server),
        timeout_seconds=server.timeout_seconds,
        ready_timeout_seconds=server.ready_timeout_seconds,
        task_tools=tuple(
            TaskTools(submit=one.submit, status=one.status, cancel=one.cancel, answer=one.answer)
            for one in server.tasks
        ),
        has_experimental_tasks=server.experimental_tasks,
    )


def _identity(server: McpServer) -> tuple[str, ...]:
    """As whom a server is used: names of headers and where their values come from, never the values."""
    told = [f"{key.lower()}={value.shown()}" for key, value in sorted(server.headers.items())]
    if server.oauth:
        told.append(f"oauth={server.oauth.issuer.shown()} {server.oauth.client_id.shown()}")
    return tuple(told)


def _credentials(oauth: McpOauth, environ: Mapping[str, str]) -> ClientCredentials:
    return ClientCredentials(
        client_id=oauth.client_id.resolve(environ),
        client_secret=oauth.client_secret.resolve(environ),
        issuer=oauth.issuer.resolve(environ),
        scope=oauth.scope.resolve(environ) if oauth.scope else None,
    )


def effects_of(name: str, settings: Settings) -> dict[str, Effect]:
    """The effects the configuration states for tools of a server."""
    return {tool: Effect(effect) for tool, effect in settings.mcp_servers[name].effects.items()}


def place_of(server: McpServer) -> str:
    """Where a server is, as people may see it."""
    shown = server.url or server.command
    return shown.shown() if shown else ""
