"""A FastMCP server with background tasks: `python fastmcp_server.py PORT`, its tasks in the Redis of FASTMCP_DOCKET_URL."""

import asyncio
import contextlib
import os
import sys
from datetime import timedelta

from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = FastMCP("peer")
server.add_extension(
    TasksExtension(url=os.environ["FASTMCP_DOCKET_URL"], redelivery_timeout=timedelta(seconds=5))
)
TASK = TaskConfig(mode="optional", poll_interval=timedelta(milliseconds=100))


@server.tool(task=TASK)
async def slow(seconds: float, label: str) -> str:
    """Take time, as work does."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()
    return f"slow done {label}"


@server.tool(task=TASK)
async def ask(ctx: Context) -> str | InputRequiredResult:
    """Ask for a name."""
    if ctx.input_responses is None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        form = ElicitRequestFormParams(message="Your name?", requested_schema=schema)
        return InputRequiredResult(
            result_type="input_required", input_requests={"name": ElicitRequest(params=form)}
        )
    return f"hello {ctx.input_responses['name'].content['name']}"


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="warning")
