"""The MCP servers that the user's agents bring along.

Owns their life: all are connected before the first run and cleaned up at the end, in one task of their own,
since their libraries insist on that. Imports the SDK: import it late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from agents.mcp import MCPServer, MCPServerManager

from advchat.models.faults import SettingsError

_CONNECT_SECONDS = 30.0


class ToolServers:
    """Connects servers on demand and keeps them until it is closed."""

    def __init__(self, servers: Sequence[MCPServer]) -> None:
        self._servers = servers
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._closing = asyncio.Event()

    async def connect(self) -> None:
        """Connect what is not connected yet. Raises SettingsError naming the server that could not be."""
        if not self._servers:
            return
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._live(self._ready), name="MCP servers")
        try:
            await asyncio.shield(self._ready)
        except SettingsError:
            self._ready = None  # The next run tries again.
            raise

    async def close(self) -> None:
        """End every connection."""
        self._closing.set()
        if self._task is not None:
            with suppress(Exception):
                await self._task

    async def _live(self, ready: asyncio.Future[None]) -> None:
        manager = MCPServerManager(
            self._servers, connect_timeout_seconds=_CONNECT_SECONDS, connect_in_parallel=True
        )
        try:
            await manager.connect_all()
            for server, error in manager.errors.items():
                cause = " ".join(str(error).split()) or type(error).__name__
                ready.set_exception(SettingsError(f"The MCP server “{server.name}” did not start: {cause}"))
                return
            ready.set_result(None)
            await self._closing.wait()
        finally:
            await manager.cleanup_all()
