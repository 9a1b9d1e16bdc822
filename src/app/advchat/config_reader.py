"""Reading a TOML file so that each mistake in it is named with its line.

Owns decoding, parsing, finding lines and the readings of a table's values. Does not know what the settings
mean: ``config`` does.
"""

from __future__ import annotations

import codecs
import difflib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_NAME})\s*\]")
_PAIR = re.compile(rf"\s*({_NAME})\s*=")
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

Place = tuple[str, ...]
"""The names that lead to a key: its tables', then its own."""

_T = TypeVar("_T", bound=str)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong, where it is and what would be right."""

    where: str
    """A file, an option or an environment variable."""
    line: int | None
    """1-based, for a file."""
    message: str

    def __str__(self) -> str:
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        return f"{place}: {self.message}"


class ConfigError(Exception):
    """Settings that cannot be used; its text has one line per mistake."""

    def __init__(self, mistakes: Collection[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: (mistake.where, mistake.line or 0)))
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


class Section:
    """One table of the file. Each reading takes its key; ``finish`` then names the keys nobody took.

    A reading of a value that is wrong notes the mistake and returns None, as if the key were missing.
    """

    def __init__(self, values: Mapping[str, object], file: File, path: Place = ()) -> None:
        self._values = values
        self._file = file
        self._path = path
        self._taken: set[str] = set()

    def wrong(self, key: str | None, message: str) -> None:
        """Note a mistake at ``key``, or at the table itself."""
        self._file.wrong(self._path if key is None else (*self._path, key), message)

    def has(self, key: str) -> bool:
        """Whether the key is there, right or wrong."""
        return key in self._values

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that are there, in the file's order."""
        return tuple(self._values)

    def text(self, key: str) -> str | None:
        """Read a text, trimmed. An empty one counts as missing."""
        value = self._take(key)
        if isinstance(value, str):
            return value.strip() or None
        self._refuse(key, 'a text, such as "…"', value)
        return None

    def flag(self, key: str) -> bool | None:
        """Read true or false."""
        value = self._take(key)
        if isinstance(value, bool):
            return value
        self._refuse(key, "true or false", value)
        return None

    def choice(self, key: str, options: Sequence[_T]) -> _T | None:
        """Read one of ``options``."""
        value = self._take(key)
        for option in options:
            if value == option:
                return option
        self._refuse(key, " or ".join(f'"{option}"' for option in options), value)
        return None

    def number(self, key: str, wanted: str, *, above_zero: bool = False) -> Decimal | None:
        """Read a number that is not negative, every digit kept. ``wanted`` is what a mistake asks for."""
        value = self._take(key)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            number = Decimal(value)
            if number.is_finite() and (number > 0 or (number == 0 and not above_zero)):
                return number
        self._refuse(key, wanted, value)
        return None

    def texts(self, key: str, wanted: str) -> tuple[str, ...] | None:
        """Read a list of texts; one text alone is a list of one."""
        value = self._take(key)
        items = value if isinstance(value, list) else [value]
        texts = tuple(item.strip() for item in items if isinstance(item, str))
        if len(texts) == len(items):
            return tuple(text for text in texts if text)
        self._refuse(key, wanted, value)
        return None

    def sections(self, key: str) -> Iterator[tuple[str, Section]]:
        """Read a table of tables: each name with its table."""
        for name, value in self._table(key).items():
            if isinstance(value, Mapping):
                yield name, Section(value, self._file, (*self._path, key, name))
            else:
                self._file.wrong((*self._path, key, name), f"must be a table: [{key}.{_quoted(name)}]")

    def section(self, key: str) -> Section:
        """Read a table; an empty one where it is missing."""
        return Section(self._table(key), self._file, (*self._path, key))

    def flattened(self) -> Section:
        """Return the table with inner tables' keys joined by dots, as an unquoted ``a.b = 1`` makes them."""
        return Section(dict(_flat(self._values)), self._file, self._path)

    def finish(self) -> None:
        """Name each key that no reading asked for, with the nearest that one did."""
        for key in self._values:
            if key not in self._taken:
                self.wrong(key, f"there is no setting {key!r}{nearest(key, self._taken)}")

    def _take(self, key: str) -> object:
        self._taken.add(key)
        return self._values.get(key)

    def _table(self, key: str) -> Mapping[str, object]:
        value = self._take(key)
        if isinstance(value, Mapping):
            return value
        self._refuse(key, f"a table: [{key}]", value)
        return {}

    def _refuse(self, key: str, wanted: str, value: object) -> None:
        """Note a mistake, unless the key is simply missing: TOML has no null."""
        if value is not None:
            self.wrong(key, f"{key} must be {wanted}, not {_shown(value)}")


class File:
    """A parsed file and the mistakes found in it."""

    def __init__(self, path: Path, text: str, mistakes: list[Mistake]) -> None:
        self._path = path
        self._lines = dict(_lines(text))
        self._mistakes = mistakes

    def wrong(self, path: Place, message: str) -> None:
        """Note a mistake at the line that sets ``path``, or the nearest table around it."""
        dotted = {".".join(known): line for known, line in self._lines.items()}
        places = (".".join(path[:length]) for length in range(len(path), 0, -1))
        line = next((dotted[place] for place in places if place in dotted), None)
        self._mistakes.append(Mistake(str(self._path), line, message))


def read_file(path: Path, mistakes: list[Mistake], *, required: bool) -> Section | None:
    """Read the file; None where it may be missing and is. Raises ConfigError when it cannot be read."""
    text = _text(path, required=required)
    if text is None:
        return None
    return Section(_parse(path, text), File(path, text, mistakes))


def nearest(name: str, known: Collection[str]) -> str:
    """Write ``; did you mean …?`` with the known name that looks most like it, or what there is."""
    if match := difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5):
        return f"; did you mean {match[0]!r}?"
    return f"; there are {', '.join(sorted(known))}" if 0 < len(known) <= 12 else ""


def _text(path: Path, *, required: bool) -> str | None:
    """Decode with plain newlines and without a byte order mark."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        if not required:
            return None
        raise ConfigError([Mistake(str(path), None, "there is no such file")]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError([Mistake(str(path), None, f"cannot be read: {reason}")]) from None
    utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = None if utf16 else raw.count(b"\n", 0, error.start) + 1
        raise ConfigError([Mistake(str(path), line, "is not UTF-8 text; save it as UTF-8")]) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        place = _AT.search(str(error))
        line = int(place[1]) if place and place[1] else len(text.rstrip("\n").split("\n"))
        what = _AT.sub("", str(error))
        column = f" at column {place[2]}" if place and place[2] else ""
        raise ConfigError([Mistake(str(path), line, f"not valid TOML{column}: {what}")]) from None
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise ConfigError([Mistake(str(path), None, f"not valid TOML: {error}")]) from None


def _lines(text: str) -> Iterator[tuple[Place, int]]:
    """Find the line of each key and table by a light scan; what stands in multi-line texts is passed over."""
    table: Place = ()
    closing = ""
    for number, line in enumerate(text.split("\n"), 1):
        if closing:
            closing = "" if line.count(closing) % 2 else closing
            continue
        if header := _HEADER.match(line):
            table = _names(header[1])
            yield table, number
        elif pair := _PAIR.match(line):
            yield (*table, *_names(pair[1])), number
        closing = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), "")


def _names(dotted: str) -> Place:
    return tuple(part[1:-1] if part[0] in "\"'" else part for part in re.findall(_PART, dotted))


def _flat(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


def _shown(value: object) -> str:
    """Write a refused value on one short line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | Decimal):
        return f"{value}"[:40]
    if isinstance(value, str):
        return repr(value if len(value) <= 30 else f"{value[:30]}…")
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, Mapping) else "a date or time"
