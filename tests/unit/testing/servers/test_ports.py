"""Servers on a port of this machine, which are on unix sockets otherwise."""

import asyncpg
import redis

from outlast.testing.servers.ports import free_port
from outlast.testing.servers.postgres import PostgresServer
from outlast.testing.servers.redis import RedisServer, find_binary


async def test_postgresql_with_a_port_is_reached_there_also_after_a_restart() -> None:
    port = free_port()
    with PostgresServer(port=port) as server:
        assert server.url == f"postgresql://outlast@127.0.0.1:{port}/postgres"
        server.stop()
        server.start()
        connection = await asyncpg.connect(server.url)
        assert await connection.fetchval("SELECT host(inet_server_addr())") == "127.0.0.1"
        await connection.close()


def test_redis_with_a_port_is_reached_there_and_at_no_other_address() -> None:
    port = free_port()
    with RedisServer(find_binary("valkey"), port=port) as server, redis.Redis.from_url(server.url) as client:
        assert server.url == f"redis://127.0.0.1:{port}"
        assert client.config_get("bind") == {"bind": "127.0.0.1"}
