"""What the user has set: one TOML file, the environment and the command line, as one frozen value.

Owns what settings there are, which source wins and where the program's files live; ``config_reader`` owns
the file. Knows neither Textual nor the SDK, asks no network, writes nothing.

The command line wins over the file, and the file, being this program's own, over the environment, which
every OpenAI program shares. A key goes with its address: an address from the command line never receives
the key that the file keeps for another one.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import platformdirs

from advchat.config_reader import ConfigError, Mistake, Section, nearest, read_file

__all__ = [
    "Api", "Config", "ConfigError", "Endpoint", "Mistake", "OwnPrice",
    "config_file", "data_dir", "load_config", "log_file",
]  # fmt: skip

Api = Literal["responses", "chat"]

_APIS: tuple[Api, ...] = ("responses", "chat")
_THEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
_IDLE_TIMEOUT = 120.0
_KEY_NAME = re.compile(r"(?:(?:ctrl|alt|shift|super|hyper|meta)\+)*[^\s+,]+")


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """A price of the user's own: US dollars per million tokens, exactly as written."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cached: Decimal | None = None
    """None: cached tokens cost what input costs."""
    cache_write: Decimal | None = None
    """None: tokens written to the cache cost what input costs."""
    free: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked for. Without ``base_url`` it is OpenAI's own."""

    name: str = ""
    """The ``[providers.NAME]`` that it comes from; empty for the one of the top level."""
    base_url: str | None = None
    api: Api | None = None
    """None: to be found out from the first real request."""
    api_key: str | None = field(default=None, repr=False)
    models: tuple[str, ...] = ()
    """Models that are asked for here though their name carries no ``NAME/``."""

    @property
    def connected(self) -> bool:
        """Whether a request can be sent at all: an address of one's own may do without a key."""
        return self.base_url is not None or self.api_key is not None


@dataclass(frozen=True, slots=True)
class Config:
    """Everything the user has set, defaults filled in."""

    path: Path | None = None
    """The file that was read; None when there is none."""
    model: str | None = None
    endpoint: Endpoint = field(default_factory=Endpoint)
    providers: Mapping[str, Endpoint] = field(default_factory=dict)
    idle_timeout: float = _IDLE_TIMEOUT
    """Seconds without a single byte after which a request counts as lost."""
    theme: Literal["dark", "light"] | None = None
    tracing: bool = False
    """Whether the SDK may send traces of runs to its vendor."""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Command ID to the keys that replace its own; an empty tuple takes its keys away."""
    prices: Mapping[str, OwnPrice] = field(default_factory=dict)
    """Model name in lower case to the user's own price."""

    def resolve(self, model: str) -> tuple[Endpoint, str]:
        """Tell where ``model`` is asked for and under which name.

        ``NAME/model`` goes to ``[providers.NAME]``, a model that a provider lists goes there, all others to
        the top level's endpoint.
        """
        name, _, rest = model.partition("/")
        if rest and name in self.providers:
            return self.providers[name], rest
        listed = (endpoint for endpoint in self.providers.values() if model in endpoint.models)
        return next(listed, self.endpoint), model


def config_file() -> Path:
    """Return the file that is read when ``--config`` names no other."""
    return platformdirs.user_config_path("advchat", appauthor=False) / "config.toml"


def data_dir() -> Path:
    """Return the directory of the database, the embedded model and updated prices."""
    return platformdirs.user_data_path("advchat", appauthor=False)


def log_file() -> Path:
    """Return the file that tracebacks go to."""
    return platformdirs.user_log_path("advchat", appauthor=False) / "advchat.log"


def load_config(
    file: str | Path | None = None,
    *,
    model: str | None = None,
    base_url: str | None = None,
    api: Api | None = None,
    environ: Mapping[str, str] | None = None,
    command_ids: Collection[str] | None = None,
) -> Config:
    """Read the settings. ``model``, ``base_url`` and ``api`` are what the command line says.

    ``file`` must exist when given; the platform's own may be missing. Given ``command_ids``, the names in
    ``[keys]`` are checked against them. Raises ConfigError with every mistake that was found.
    """
    environ = os.environ if environ is None else environ
    mistakes: list[Mistake] = []
    path = config_file() if file is None else Path(file).expanduser()
    section = read_file(path, mistakes, required=file is not None)
    config = Config() if section is None else _from_file(path, section, environ, command_ids)
    config = replace(
        config,
        model=_trimmed(model) or config.model or _trimmed(environ.get("OPENAI_DEFAULT_MODEL")),
        endpoint=_endpoint(config.endpoint, _trimmed(base_url), api, environ, mistakes),
    )
    if mistakes:
        raise ConfigError(mistakes)
    return config


def _trimmed(value: str | None) -> str | None:
    return (value or "").strip() or None


def _endpoint(
    of_file: Endpoint,
    base_url: str | None,
    api: Api | None,
    environ: Mapping[str, str],
    mistakes: list[Mistake],
) -> Endpoint:
    """Mix the three sources, so that the file's key goes to no address but the file's."""
    url, key, kept_api = of_file.base_url, of_file.api_key, of_file.api
    if base_url is not None:
        given = _checked(_url_mistake, base_url, "--base-url", mistakes)
        if given != url:
            url, key, kept_api = given, None, None
    elif url is None and (value := _trimmed(environ.get("OPENAI_BASE_URL"))):
        url = _checked(_url_mistake, value, "OPENAI_BASE_URL", mistakes)
    if key is None and (value := _trimmed(environ.get("OPENAI_API_KEY"))):
        key = _checked(_key_mistake, value, "OPENAI_API_KEY", mistakes)
    return Endpoint(base_url=url, api=api or kept_api, api_key=key)


def _checked(find: Callable[[str], str | None], value: str, where: str, mistakes: list[Mistake]) -> str:
    if message := find(value):
        mistakes.append(Mistake(where, None, message))
    return value


def _from_file(
    path: Path, section: Section, environ: Mapping[str, str], command_ids: Collection[str] | None
) -> Config:
    """Take every setting out of the file."""
    timeout = section.number("idle_timeout", "a number of seconds above 0, such as 120", above_zero=True)
    config = Config(
        path=path,
        model=section.text("model"),
        endpoint=_read_endpoint(section, "", environ),
        providers={name: _read_provider(table, name, environ) for name, table in section.sections("providers")},
        idle_timeout=float(timeout or _IDLE_TIMEOUT),
        theme=section.choice("theme", _THEMES),
        tracing=section.flag("tracing") or False,
        keys=_read_keys(section.section("keys").flattened(), command_ids),
        prices={name.lower(): _read_price(table) for name, table in section.sections("prices")},
    )
    section.finish()
    return config


def _read_endpoint(section: Section, name: str, environ: Mapping[str, str]) -> Endpoint:
    url = section.text("base_url")
    if url and (message := _url_mistake(url)):
        section.wrong("base_url", f"base_url {message}")
    api = section.choice("api", _APIS)
    key = section.text("api_key")
    if key and (message := _key_mistake(key)):
        section.wrong("api_key", f"api_key {message}")
    variable = section.text("api_key_env")
    if variable and key is None:
        key = _trimmed(environ.get(variable))
        if key and (message := _key_mistake(key)):
            section.wrong("api_key_env", f"{variable} {message}")
    return Endpoint(name=name, base_url=url, api=api, api_key=key)


def _read_provider(section: Section, name: str, environ: Mapping[str, str]) -> Endpoint:
    endpoint = _read_endpoint(section, name, environ)
    models = section.texts("models", 'a list of model names, such as ["…", "…"]') or ()
    if not section.has("base_url"):
        section.wrong(None, f'providers.{name} needs a base_url, such as "https://…/v1"')
    section.finish()
    return replace(endpoint, models=models)


def _read_keys(section: Section, command_ids: Collection[str] | None) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for command in section.names:
        if command_ids is not None and command not in command_ids:
            section.wrong(command, f"there is no command {command!r}{nearest(command, command_ids)}")
        names = section.texts(command, 'a key or a list of keys, such as "ctrl+n" or ["f6", "ctrl+t"]')
        if names is None:
            continue
        keys = tuple(key.strip() for name in names for key in name.split(","))
        for key in keys:
            if not _KEY_NAME.fullmatch(key):
                section.wrong(command, f"{key!r} is no key; keys are written like ctrl+n, f2, alt+up or escape")
        found[command] = keys
    return found


def _read_price(section: Section) -> OwnPrice:
    wanted = "US dollars per million tokens, such as 0.40"
    rates = {name: section.number(name, wanted) for name in ("input", "output", "cached", "cache_write")}
    free = section.flag("free") or False
    if free and any(rates.values()):
        section.wrong("free", "free leaves no room for rates; drop one or the other")
    for name in ("input", "output"):
        if not section.has("free") and not section.has(name):
            section.wrong(None, f"{name} is missing ({wanted}); or say free = true")
    section.finish()
    return OwnPrice(
        input=rates["input"] or Decimal(0),
        output=rates["output"] or Decimal(0),
        cached=rates["cached"],
        cache_write=rates["cache_write"],
        free=free,
    )


def _url_mistake(url: str) -> str | None:
    """Say what keeps ``url`` from being an endpoint's address, if anything does; a bare host is one."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if good and not any(character.isspace() or not character.isprintable() for character in url):
        return None
    return 'is no address; it looks like "https://host/v1" or "http://localhost:8080/v1"'


def _key_mistake(key: str) -> str | None:
    """Name the character that no key may have, and nothing else of the key: it is a secret."""
    for position, character in enumerate(key, 1):
        if not "!" <= character <= "~":
            name = unicodedata.name(character, f"U+{ord(character):04X}")
            return f"holds a character that no key has: {name} at position {position}; copy the key again"
    return None
