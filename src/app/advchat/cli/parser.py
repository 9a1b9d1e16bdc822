"""The command line's grammar.

Owns every option and subcommand, their help and their checks that need no file. Options may stand before
or after the subcommand. Imports nothing heavy: ``--help`` must be instant.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

DESCRIPTION = "A terminal chat with live branching. Without a command it opens the app."


class _Parser(argparse.ArgumentParser):
    """Errors are one line that names the cause and the way out."""

    def error(self, message: str) -> NoReturn:
        hint = f"`{self.prog} --help` lists what there is"
        self.exit(2, f"{self.prog}: {message}. {hint}.\n")


class _Version(argparse.Action):
    """Reads the version only when it is asked for: what reads it would cost every start 20 ms."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415

        sys.stdout.write(f"advchat {version('advchat')}\n")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line."""
    shared = _shared_options()
    parser = _Parser(prog="advchat", description=DESCRIPTION, parents=[shared], allow_abbrev=False)
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the program's version number and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=_Parser)

    def add(name: str, summary: str, *, json: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary, parents=[shared], allow_abbrev=False)
        if json:
            sub.add_argument("--json", action="store_true", help="print JSON")
        return sub

    _add_ask(add("ask", "Answer one prompt without a screen: streams to standard output."))
    add("conversations", "List the conversations, the latest first.").add_argument(
        "--archived", action="store_true", help="list archived ones too"
    )
    add("branches", "List a conversation's branches.")
    add("turns", "List a branch's turns.").add_argument("--branch", metavar="BRANCH", help="ID or title")
    _add_usage(add("usage", "Report tokens and money."))
    search = add("search", "Find a text in every conversation.")
    search.add_argument("term", metavar="TEXT")
    search.add_argument("--branch", metavar="BRANCH", help="only on this branch")
    search.add_argument("--limit", type=_positive, default=50, metavar="N")
    compare = add("compare", "Compare two branches from their fork point.")
    compare.add_argument("left", metavar="A", help="a branch, by ID or title")
    compare.add_argument("right", metavar="B")
    _add_prices(add("prices", "Show the prices in force, in US dollars per million tokens."))
    _add_files(add)
    return parser


def _shared_options() -> _Parser:
    shared = _Parser(add_help=False, argument_default=argparse.SUPPRESS, allow_abbrev=False)
    where = shared.add_argument_group("where and with what")
    where.add_argument("--db", metavar="FILE", help="the database (default: in the user's data directory)")
    where.add_argument("--conversation", metavar="ID|TITLE", help="the conversation (default: the latest)")
    where.add_argument("--new", action="store_true", help="begin a new conversation")
    where.add_argument("--model", metavar="NAME", help="the model; also `local` and `tour`")
    where.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible endpoint")
    where.add_argument("--api", choices=("responses", "chat"), help="the endpoint's API (default: found out)")
    where.add_argument(
        "--agent", metavar="MODULE:NAME|FILE.py:NAME", help="your own Agent of the OpenAI Agents SDK"
    )
    where.add_argument("--config", metavar="FILE", help="the settings file")
    where.add_argument("--yes", action="store_true", help="answer every question with yes")
    return shared


def _add_ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("prompt", nargs="?", metavar="PROMPT|-", help="`-` or nothing: standard input")
    ask.add_argument(
        "-c", "--continue", dest="resume", action="store_true", help="continue the latest conversation"
    )
    ask.add_argument("--branch", metavar="BRANCH", help="on this branch, by ID or title")
    ask.add_argument("--fork", type=_positive, metavar="N", help="on a new branch from before turn N")


def _add_usage(usage: argparse.ArgumentParser) -> None:
    usage.add_argument(
        "--by", choices=("turn", "branch", "conversation", "model", "day", "tool"), help="one row for each"
    )
    usage.add_argument("--since", metavar="DATE", help="from this day on: 2026-11-30, 7d, 24h, today, month")
    usage.add_argument("--csv", action="store_true", help="print CSV")


def _add_prices(prices: argparse.ArgumentParser) -> None:
    prices.add_argument("term", nargs="?", metavar="TEXT", help="only models whose name holds it")
    prices.add_argument("--update", action="store_true", help="fetch the newest prices (asks the network)")
    prices.add_argument(
        "--recompute", action="store_true", help="show what would change if past requests were priced now"
    )


def _add_files(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    check = add("check", "Verify the database, and repair what can be repaired.")
    check.add_argument("--repair", action="store_true", help="repair (a backup is made first)")
    add("backup", "Copy the database, also while it is in use.").add_argument("target", metavar="FILE")


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"“{text}” is not a number above 0")
    return int(text)


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; exits with 2 and one line on a mistake."""
    defaults = argparse.Namespace(
        db=None, conversation=None, new=False, model=None, base_url=None, api=None, agent=None, config=None,
        yes=False,
    )  # fmt: skip
    options = build_parser().parse_args(argv)
    for name, value in vars(defaults).items():
        if not hasattr(options, name):
            setattr(options, name, value)
    return options
