"""Settings: where they come from, which wins, and how each mistake is named."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from advchat.config import Config, ConfigError, Endpoint, OwnPrice, config_file, load_config


def write(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def load(tmp_path: Path, text: str | bytes, **environ: str) -> Config:
    return load_config(write(tmp_path, text), environ=environ)


def mistakes(tmp_path: Path, text: str | bytes, **environ: str) -> list[str]:
    """The mistakes, each without the directory."""
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, text), environ=environ, command_ids=["turn.fork", "branch.next"])
    return str(caught.value).replace(f"{tmp_path}/", "").splitlines()


WHOLE = """
model = "gpt-4.1-mini"
base_url = "https://llm.example/v1"
api = "chat"
api_key = " sk-file "
idle_timeout = 30.5
theme = "light"
tracing = true

[keys]
turn.fork = "f"
"branch.next" = ["alt+down", "ctrl+t, f6"]

[prices."My-Model"]
input = 0.1
cached = 0.025
cache_write = 0.125
output = 0.4

[prices.here]
free = true

[providers.groq]
base_url = "https://api.groq.com/openai/v1"
api = "chat"
api_key_env = "GROQ_KEY"
models = ["llama-3.3-70b-versatile"]
"""


def test_whole_file(tmp_path: Path) -> None:
    config = load(tmp_path, WHOLE, GROQ_KEY=" gsk ")
    groq = Endpoint("groq", "https://api.groq.com/openai/v1", "chat", "gsk", ("llama-3.3-70b-versatile",))
    assert config == Config(
        path=tmp_path / "config.toml",
        model="gpt-4.1-mini",
        endpoint=Endpoint("", "https://llm.example/v1", "chat", "sk-file"),
        providers={"groq": groq},
        idle_timeout=30.5,
        theme="light",
        tracing=True,
        keys={"turn.fork": ("f",), "branch.next": ("alt+down", "ctrl+t", "f6")},
        prices={
            "my-model": OwnPrice(Decimal("0.1"), Decimal("0.4"), Decimal("0.025"), Decimal("0.125")),
            "here": OwnPrice(free=True),
        },
    )
    assert config.resolve("groq/some/model") == (groq, "some/model")
    assert config.resolve("llama-3.3-70b-versatile") == (groq, "llama-3.3-70b-versatile")
    assert config.resolve("other/model") == (config.endpoint, "other/model")
    assert config.resolve("groq/") == (config.endpoint, "groq/")


def test_no_file_and_nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advchat.config.config_file", lambda: tmp_path / "absent.toml")
    config = load_config(environ={})
    assert config == Config()
    assert not config.endpoint.connected


def test_platform_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, 'model = "m"')
    monkeypatch.setattr("advchat.config.config_file", lambda: path)
    assert load_config(environ={}).model == "m"
    assert config_file().name == "config.toml"


def test_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml: there is no such file$"):
        load_config(tmp_path / "absent.toml", environ={})


def test_directory_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: \w.*directory$"):
        load_config(tmp_path, environ={})


def test_command_line_over_file_over_environment(tmp_path: Path) -> None:
    path = write(tmp_path, 'model = "file"\nbase_url = "https://file/v1"\napi = "chat"')
    environ = {"OPENAI_DEFAULT_MODEL": "env", "OPENAI_BASE_URL": "https://env/v1", "OPENAI_API_KEY": "sk-env"}
    config = load_config(path, environ=environ)
    assert (config.model, config.endpoint) == ("file", Endpoint("", "https://file/v1", "chat", "sk-env"))
    config = load_config(path, environ=environ, model="line", api="responses")
    assert (config.model, config.endpoint.api) == ("line", "responses")
    config = load_config(write(tmp_path, ""), environ=environ)
    assert (config.model, config.endpoint) == ("env", Endpoint("", "https://env/v1", None, "sk-env"))


def test_key_of_the_file_goes_to_no_other_address(tmp_path: Path) -> None:
    path = write(tmp_path, 'base_url = "https://file/v1"\napi_key = "sk-file"\napi = "chat"')
    other = load_config(path, environ={}, base_url="http://localhost:8080/v1").endpoint
    assert other == Endpoint("", "http://localhost:8080/v1", None, None)
    assert other.connected
    same = load_config(path, environ={}, base_url="https://file/v1").endpoint
    assert same == Endpoint("", "https://file/v1", "chat", "sk-file")
    provider = '[providers.p]\nbase_url = "https://p/v1"'
    assert load(tmp_path, provider, OPENAI_API_KEY="sk-env").providers["p"].api_key is None


def test_empty_variables_count_as_missing(tmp_path: Path) -> None:
    config = load(tmp_path, "", OPENAI_API_KEY=" \n", OPENAI_BASE_URL="", OPENAI_DEFAULT_MODEL=" ")
    assert config.model is None
    assert config.endpoint == Endpoint()


def test_case_82_key_is_trimmed(tmp_path: Path) -> None:
    assert load(tmp_path, "", OPENAI_API_KEY="\tsk-abc\r\n").endpoint.api_key == "sk-abc"


def test_case_82_key_with_a_foreign_letter_is_named_not_shown(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, "", OPENAI_API_KEY="sk-pr\u043ej-secret")
    assert line.startswith(
        "OPENAI_API_KEY: holds a character that no key has: CYRILLIC SMALL LETTER O at position 6"
    )
    assert "secret" not in line
    (line,) = mistakes(tmp_path, 'api_key = "sk-a b"')
    assert line.startswith("config.toml:1: api_key holds a character that no key has: SPACE at position 5")


def test_keys_stay_out_of_every_text(tmp_path: Path) -> None:
    config = load(tmp_path, WHOLE, GROQ_KEY="gsk-secret", OPENAI_API_KEY="sk-secret")
    assert "secret" not in repr(config)
    assert "sk-file" not in repr(config)


@pytest.mark.parametrize(
    "raw",
    [
        b'\xef\xbb\xbfmodel = "a"\r\ntheme = "dark"\r\n',
        b'model = "a"\rtheme = "dark"\r',
        '\ufeffmodel = "a"\r\ntheme = "dark"\r\n'.encode("utf-16-le"),
    ],
    ids=["bom-crlf", "cr", "utf-16"],
)
def test_case_85_marks_and_newlines_are_tolerated(tmp_path: Path, raw: bytes) -> None:
    config = load(tmp_path, raw)
    assert (config.model, config.theme) == ("a", "dark")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('model = "a"\r\n\r\ntheme = \r\n', 3, "not valid TOML at column"),
        ('model = "a"\nmodel = "b"', 2, "not valid TOML"),
        ('model = "a"\ntheme = "b', 2, "not valid TOML"),
        ("model = 1", 1, 'model must be a text, such as "…", not 1'),
        ("\n[theme]\nx = 1", 2, 'theme must be "dark" or "light", not a table'),
        ("x = '''\nmodel = 1\n'''\nidle_timeout = 0", 4, "idle_timeout must be a number of seconds above 0"),
        ("idle_timeout = true", 1, "not true"),
        ("idle_timeout = nan", 1, "not NaN"),
        ('idle_timeout = "soon"', 1, "not 'soon'"),
        ('theme = "drak"', 1, 'theme must be "dark" or "light", not \'drak\''),
        ("tracing = 1", 1, "tracing must be true or false, not 1"),
        ('api = "chats"', 1, 'api must be "responses" or "chat", not \'chats\''),
        ("theme = 2026-11-29", 1, "not a date or time"),
        ('\nmodle = "a"', 2, "there is no setting 'modle'; did you mean 'model'?"),
        ('base_url = "local host/v1"', 1, "base_url is no address; it looks like"),
        ('base_url = "ftp://host/v1"', 1, "base_url is no address; it looks like"),
        ('base_url = "http:///v1"', 1, "base_url is no address; it looks like"),
        ('base_url = "http://[::1"', 1, "base_url is no address"),
        ('[keys]\nturn.frok = "f"', 2, "there is no command 'turn.frok'; did you mean 'turn.fork'?"),
        ('[keys]\n"turn.fork" = "alt + f"', 2, "'alt + f' is no key"),
        ("[keys]\nturn.fork = [1]", 2, "turn.fork must be a key or a list of keys"),
        ("keys = 3", 1, "keys must be a table: [keys], not 3"),
        ("[prices]\nx = 3", 2, "must be a table: [prices.x]"),
        ('\n[prices."a.b"]\ninput = 1', 2, "output is missing (US dollars per million tokens"),
        ('[prices."a.b"]\ninput = 1\noutput = -2', 3, "output must be US dollars per million tokens"),
        ("[prices]\na = {input = 1, outptu = 2, output = 2}", 2, "did you mean 'output'?"),
        ("[prices.a]\nfree = true\ninput = 2", 2, "free leaves no room for rates"),
        ("[providers.a]\napi_key = 'k'", 1, "providers.a needs a base_url"),
    ],
)
def test_case_85_each_mistake_is_named_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    found = mistakes(tmp_path, text)
    assert any(mistake.startswith(f"config.toml:{line}: ") and words in mistake for mistake in found), found


def test_case_85_not_text_at_all(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, b'model = "a"\ntheme = "\xff"')
    assert line == "config.toml:2: is not UTF-8 text; save it as UTF-8"


def test_all_mistakes_are_told_at_once_in_order(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "thme = 1\nmodel = 1\n[prices.a]\ninput = 1\n", OPENAI_API_KEY="a b")
    assert [mistake.partition(": ")[0] for mistake in found] == [
        *(f"config.toml:{line}" for line in (1, 2, 3)),
        "OPENAI_API_KEY",
    ]


def test_bad_address_on_the_command_line_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^--base-url: is no address"):
        load_config(write(tmp_path, ""), environ={}, base_url="no where")
