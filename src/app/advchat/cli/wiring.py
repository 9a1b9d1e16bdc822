"""The composition root: settings become a store, a runner and a controller.

Owns which parts are put together for the app, for `ask` and for the reports. Imports each late, so that a
report pays for no agent and the app's first frame for no store.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from advchat.config import Config, data_dir, load_config

if TYPE_CHECKING:
    from advchat.controller import Controller
    from advchat_storage import Store

DATABASE = "conversations.db"


@dataclass(frozen=True, slots=True)
class Settings:
    """The command line and the settings file, read and checked."""

    options: argparse.Namespace
    config: Config
    db_path: Path


def settings(options: argparse.Namespace) -> Settings:
    """Read the settings file. Raises ``ConfigError`` with every mistake in it."""
    from advchat.commands import COMMANDS  # noqa: PLC0415 - `--help` needs no registry

    config = load_config(
        options.config,
        model=options.model,
        base_url=options.base_url,
        api=options.api,
        command_ids={command.id for command in COMMANDS},
    )
    path = Path(options.db).expanduser() if options.db else data_dir() / DATABASE
    return Settings(options, config, path)


def make_controller(chosen: Settings, *, new: bool | None = None) -> Controller:
    """Put store, runner and prices together."""
    from advchat.agents_runner import AgentsRunner, RunnerSettings  # noqa: PLC0415 - late, see above
    from advchat.controller import Controller, StartAt  # noqa: PLC0415
    from advchat.models.local import LocalModel  # noqa: PLC0415
    from advchat.pricing import Pricing  # noqa: PLC0415
    from advchat_storage import Store  # noqa: PLC0415

    options, config = chosen.options, chosen.config
    local = LocalModel(data_dir())
    pricing = Pricing(config)
    runner = AgentsRunner(
        RunnerSettings(
            config=config,
            agent=options.agent,
            local=local,
            pricing=pricing,
            model_asked=options.model is not None,
        )
    )
    undecided = options.agent is None and config.model is None and not config.endpoint.connected
    start_at = StartAt(
        conversation=options.conversation,
        new=options.new if new is None else new,
        model=options.model,
        default_model=config.model,
    )
    return Controller(
        Store(chosen.db_path),
        runner,
        pricing.price,
        start_at,
        embedded=local if undecided else None,
        cheaper=pricing.cheaper,
    )


def run_app(chosen: Settings) -> int:
    """Open the app. Raises ``UserError`` where there is no terminal for it."""
    # Textual's own way to run elsewhere, such as in a browser: the driver named there needs no terminal.
    if not os.environ.get("TEXTUAL_DRIVER"):
        _require_terminal()
    # Collections while everything is being made would cost the first frame; the app collects again after it.
    gc.disable()
    from advchat.app import run_app as run  # noqa: PLC0415 - the reports need no Textual

    return run(lambda: make_controller(chosen), chosen.config)


def _require_terminal() -> None:
    from advchat.actions import UserError  # noqa: PLC0415 - late, see above

    # Textual draws on standard error, on Windows on standard output.
    for stream in (sys.stdin, sys.stdout if sys.platform == "win32" else sys.stderr):
        if stream is None or not stream.isatty():
            raise UserError(
                "The app needs a terminal to read keys from and to draw on; "
                "`advchat ask 'your question'` does without."
            )


async def run_ask(chosen: Settings) -> int:
    """Answer one prompt without a screen."""
    from advchat.cli.ask import ask, read_prompt  # noqa: PLC0415 - only here

    options = chosen.options
    prompt = await asyncio.to_thread(read_prompt, options.prompt)
    elsewhere = options.resume or options.conversation or options.branch or options.fork
    return await ask(make_controller(chosen, new=options.new or not elsewhere), options, prompt)


async def run_report(chosen: Settings) -> int:
    """Print one report."""
    from advchat.actions import UserError  # noqa: PLC0415 - late, see above
    from advchat.cli.reports import REPORTS  # noqa: PLC0415
    from advchat_storage import Store  # noqa: PLC0415

    options = chosen.options
    if options.command == "prices":
        return await _run_prices(chosen)
    if not chosen.db_path.exists():
        raise UserError(f"{chosen.db_path} does not exist. Name the database with --db FILE.")
    store = Store(chosen.db_path)
    try:
        await _open(store, damaged=options.command == "check")
        if options.command == "compare":
            from advchat.cli.comparing import compare  # noqa: PLC0415 - only here

            return await compare(store, options)
        return await REPORTS[options.command](store, options)
    finally:
        await store.close()


async def _open(store: Store, *, damaged: bool) -> None:
    """Open the file; with ``damaged`` one of ours that is too damaged to open is no error."""
    from advchat_storage.errors import CorruptDatabaseError  # noqa: PLC0415 - late, see above

    try:
        await store.open()
    except CorruptDatabaseError:
        if not damaged:
            raise


async def _run_prices(chosen: Settings) -> int:
    from advchat.cli.prices import prices  # noqa: PLC0415 - only here
    from advchat.pricing import Pricing  # noqa: PLC0415
    from advchat_storage import Store  # noqa: PLC0415

    pricing = Pricing(chosen.config)
    if not (chosen.options.recompute and chosen.db_path.exists()):
        return await prices(None, pricing, chosen.options)
    async with Store(chosen.db_path) as store:
        return await prices(store, pricing, chosen.options)
