"""The app in a process of its own, with actions in memory that note each call on a line of a file.

python -m tests.app.terminal.program NOTES [busy]
"""

from __future__ import annotations

import sys
from pathlib import Path

from advchat.app import AdvchatApp, log_to
from tests.app.fakes import FakeActions, run, snapshot


class NotingActions(FakeActions):
    """Notes each call where another process can read it."""

    def __init__(self, notes: Path, *, busy: bool) -> None:
        super().__init__(snapshot(runs=(run(),) if busy else ()))
        self._notes = notes

    async def _note(self, name: str, *arguments: object) -> None:
        await super()._note(name, *arguments)
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(f"{name} {arguments!r}\n")


def main() -> int:
    """Run the app."""
    notes = Path(sys.argv[1])
    log = notes.with_suffix(".log")
    log_to(log)
    app = AdvchatApp(lambda: NotingActions(notes, busy="busy" in sys.argv), log_file=log)
    app.run()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
