"""Lets ``python -m advchat`` run the program."""

from __future__ import annotations

import sys

from advchat.cli import main

if __name__ == "__main__":
    sys.exit(main())
