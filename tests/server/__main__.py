"""The test server as a process: prints its base URL on a line of its own, then serves until it is ended."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.server.control import load
from tests.server.seen import Api
from tests.server.server import ModelServer


async def _serve(options: argparse.Namespace, script: dict[str, Any]) -> None:
    apis: tuple[Api, ...] = ("responses", "chat") if options.api is None else (options.api,)
    server = ModelServer(apis=apis)
    load(server, script)
    await server.start(options.port)
    sys.stdout.write(server.base_url + "\n")
    sys.stdout.flush()
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        await server.close()


def main() -> None:
    """Run the server on the command line."""
    parser = argparse.ArgumentParser(prog="tests.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", help="a JSON file; see tests.server.control.load")
    parser.add_argument("--api", choices=["responses", "chat"], help="know only this API")
    options = parser.parse_args()
    script = json.loads(Path(options.script).read_text(encoding="utf-8")) if options.script else {}
    try:
        asyncio.run(_serve(options, script))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
