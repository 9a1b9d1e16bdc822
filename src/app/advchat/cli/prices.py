"""The `prices` command: what prices are in force, fetching newer ones, and pricing the past anew.

Owns what it prints and asks. Changes nothing in the ledger before it has shown what would change.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal

from advchat.actions import UserError
from advchat.cli.reports import usd
from advchat.cli.tables import print_json, print_table
from advchat.price_values import PriceRow, PriceUpdateError
from advchat.pricing import Pricing, Repricing
from advchat.state import dollars
from advchat_storage import Store


async def prices(store: Store | None, pricing: Pricing, options: argparse.Namespace) -> int:
    """Print the price table, or do what the options ask; ``store`` is needed for ``--recompute`` only."""
    if options.update:
        try:
            version = await asyncio.to_thread(pricing.update)
        except PriceUpdateError as error:
            raise UserError(f"{error}. The prices in use stay.") from error
        sys.stderr.write(f"advchat: prices are of {version} now.\n")
        if not options.recompute:
            return 0
    if options.recompute:
        return await _recompute(store, pricing, options)
    rows = await asyncio.to_thread(pricing.table, options.term or "")
    _print_rows(rows, as_json=options.json)
    return 0 if rows else 1


def _print_rows(rows: Sequence[PriceRow], *, as_json: bool) -> None:
    if as_json:
        print_json([{key: _plain(value) for key, value in asdict(row).items()} for row in rows])
        return
    table = [
        [
            row.model,
            row.provider,
            _rate(row.input),
            _rate(row.cached),
            _rate(row.cache_write),
            _rate(row.output),
            "" if row.context_window is None else f"{row.context_window:,}",
            f"{row.source}{' (tiered)' if row.tiered else ''}",
        ]
        for row in rows
    ]
    heads = ("MODEL", "PROVIDER", "INPUT", "CACHED", "CACHE WR", "OUTPUT", "WINDOW", "SOURCE")
    print_table(table, heads, right=(2, 3, 4, 5, 6))
    sys.stderr.write(
        "US dollars per million tokens.\n" if rows else "advchat: no price is known by that name.\n"
    )


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def _rate(value: Decimal | None) -> str:
    return "unknown" if value is None else f"{value.normalize():f}"


async def _recompute(store: Store | None, pricing: Pricing, options: argparse.Namespace) -> int:
    if store is None:
        raise UserError("There is no database to price anew. Name it with --db FILE.")
    records = await store.requests()
    changes = await asyncio.to_thread(pricing.recompute, records)
    _print_changes(changes, as_json=options.json)
    if not changes or not (options.yes or _agreed(len(changes))):
        return 0
    changed = await store.reprice([change.change for change in changes])
    sys.stderr.write(f"advchat: {_requests(changed)} priced anew.\n")
    return 0


def _print_changes(changes: Sequence[Repricing], *, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {
                    "request_id": change.request_id,
                    "model": change.model,
                    "cost_usd": usd(change.old_nano),
                    "new_cost_usd": usd(change.cost_nano),
                    "price_source": change.price_source,
                    "price_version": change.price_version,
                }
                for change in changes
            ]
        )
        return
    if not changes:
        sys.stderr.write("advchat: every request has the price it would get today.\n")
        return
    rows = [
        [change.request_id, change.model or "", dollars(change.old_nano), dollars(change.cost_nano)]
        for change in changes
    ]
    print_table(rows, ("REQUEST", "MODEL", "COST", "NEW COST"), right=(2, 3))


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count:,} requests"


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        sys.stderr.write("advchat: nothing was changed. --yes changes it.\n")
        return False
    sys.stderr.write(f"Price {_requests(count)} anew? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
