"""The registry of commands, and the slash commands made from it."""

from __future__ import annotations

import pytest

from advchat.actions import UserError
from advchat.commands import (
    BY_ID,
    BY_SLASH,
    COMMANDS,
    SCOPES,
    Command,
    completions,
    in_scope,
    key_label,
    key_problems,
    keys_of,
    markdown,
)
from advchat.screens.compare import CompareScreen
from advchat.screens.fan import FanScreen
from advchat.screens.main import MainScreen
from advchat.screens.usage import UsageScreen
from advchat.slash import (
    SlashCall,
    budget_argument,
    carry_argument,
    fan_argument,
    fan_models,
    fork_argument,
    parse,
    turns_of,
    unquote,
)

DESIGNED = {
    "app.help": ("f1",),
    "panel.branches": ("f2",),
    "panel.turns": ("f3",),
    "panel.usage": ("f4",),
    "panel.transcript": ("f5",),
    "conversation.new": ("ctrl+n",),
    "conversation.open": ("ctrl+o",),
    "conversation.search": ("ctrl+f",),
    "app.palette": ("ctrl+p",),
    "composer.editor": ("ctrl+g",),
    "composer.send": ("enter",),
    "composer.newline": ("ctrl+j", "shift+enter", "alt+enter"),
    "branch.previous": ("alt+up",),
    "branch.next": ("alt+down",),
    "branch.parent": ("alt+left",),
    "branch.child": ("alt+right",),
    "app.quit": ("ctrl+q",),
    "turn.fork": ("f",),
    "turn.edit": ("e",),
    "turn.regenerate": ("r",),
    "turn.compare": ("c",),
    "turn.copy": ("y",),
    "branch.switch": ("enter",),
    "branch.rename": ("n",),
    "branch.delete": ("d",),
    "branch.undo": ("u",),
    "branch.mark": ("m",),
}
"""Keys that users and docs rely upon."""


def test_ids_are_unique_and_every_command_can_be_carried_out() -> None:
    assert len(BY_ID) == len(COMMANDS)
    for command in COMMANDS:
        screen = {"fan": FanScreen, "compare": CompareScreen, "report": UsageScreen}.get(
            command.scope, MainScreen
        )
        assert callable(getattr(screen, f"do_{command.id.replace('.', '_')}")), command.id


@pytest.mark.parametrize(("command_id", "keys"), DESIGNED.items())
def test_keys_are_the_documented_ones(command_id: str, keys: tuple[str, ...]) -> None:
    assert keys_of(BY_ID[command_id]) == keys


@pytest.mark.parametrize("scope", SCOPES)
def test_no_key_means_two_things_in_one_place(scope: str) -> None:
    keys = [key for command in COMMANDS if command.scope in {"global", scope} for key in command.keys]
    assert len(keys) == len(set(keys))


def test_words_for_people_are_sentences() -> None:
    for command in COMMANDS:
        assert command.title
        assert command.help.endswith("."), command.id


def test_the_config_moves_and_takes_away_keys() -> None:
    fork = BY_ID["turn.fork"]
    assert keys_of(fork, {"turn.fork": ("x", "f6")}) == ("x", "f6")
    assert keys_of(fork, {"turn.fork": ()}) == ()
    assert keys_of(fork, {"turn.edit": ("x",)}) == ("f",)


def test_mistakes_in_the_configs_keys_are_named() -> None:
    assert key_problems({"turn.fork": ("x",)}) == []
    assert key_problems({"turn.spoon": ("x",)}) == ["keys.turn.spoon: no such command"]
    assert key_problems({"turn.fork": ("f1",)}) == ["keys.turn.fork: f1 is already the key of app.help"]


@pytest.mark.parametrize(
    ("key", "label"),
    [("ctrl+p", "Ctrl+P"), ("alt+up", "Alt+↑"), ("f", "f"), ("f2", "F2"), ("F", "F"), ("escape", "Esc")],
)
def test_keys_are_written_for_people(key: str, label: str) -> None:
    assert key_label(key) == label


def test_completion_narrows_while_the_name_is_typed() -> None:
    def names(text: str) -> list[str | None]:
        return [command.slash for command in completions(text)]

    assert set(names("/")) == set(BY_SLASH)
    assert names("/fo") == ["fork"]
    assert names("/zzz") == []
    assert names("/fork ") == []
    assert names("//fo") == []
    assert names("fo") == []
    assert names("/fo\n") == []


def test_the_tables_name_every_key_and_slash_command() -> None:
    text = markdown({"turn.fork": ("x",)})
    for command in COMMANDS:
        keys = keys_of(command, {"turn.fork": ("x",)})
        assert not keys or f"| {command.title} | {command.help} |" in text
    assert "| x | Fork here |" in text
    assert "`/fork N [name]`" in text


def test_scopes_keep_the_registrys_order() -> None:
    assert [command.id for command in in_scope("usage")] == ["usage.full", "usage.previous", "usage.next"]


def call(text: str) -> tuple[str, str]:
    parsed = parse(text)
    assert isinstance(parsed, SlashCall)
    return parsed.command.id, parsed.argument


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/fork 2", ("turn.fork", "2")),
        ("/fork 2 a shorter one", ("turn.fork", "2 a shorter one")),
        ("/FORK 2", ("turn.fork", "2")),
        ("/switch  main ", ("branch.switch", "main")),
        ('/switch "with spaces "', ("branch.switch", "with spaces ")),
        ("/switch [/", ("branch.switch", "[/")),
        ("/new", ("conversation.new", "")),
        ("/new a title", ("conversation.new", "a title")),
        ('/rename "a" and "b"', ("branch.rename", '"a" and "b"')),
        ("/help\n", ("app.help", "")),
        ("/fan 3 one line\nand another", ("branch.fan", "3 one line\nand another")),
        ("/fan 3\nfrom the next line", ("branch.fan", "3\nfrom the next line")),
        ("/budget 0.50", ("budget.set", "0.50")),
    ],
)
def test_slash_commands_are_read(text: str, expected: tuple[str, str]) -> None:
    assert call(text) == expected


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("hello", "hello"),
        ("//etc/passwd", "/etc/passwd"),
        ("///", "//"),
        (" /fork 2", " /fork 2"),
        ("//fork 2\nand more", "/fork 2\nand more"),
        ("not\n/a command", "not\n/a command"),
    ],
)
def test_other_text_is_a_prompt(text: str, sent: str) -> None:
    assert parse(text) == sent


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/frok 2", "Did you mean /fork?"),
        ("/usr/bin/env is broken", "There is no command /usr/bin/env."),
        ("/", "There is no command /."),
        ("/fork", "/fork needs N: /fork N [name]"),
        ("/switch   ", "/switch needs NAME"),
        ("/help me", "/help takes nothing after it."),
        ("/fork 2\nand more", "A slash command takes one line."),
    ],
)
def test_mistakes_are_told_in_one_line(text: str, told: str) -> None:
    with pytest.raises(UserError) as refusal:
        parse(text)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_fork_takes_a_number_and_a_title() -> None:
    assert fork_argument("2") == (2, "")
    assert fork_argument('12 "a title"') == (12, "a title")
    for wrong in ("two", "-1", "2x", "²", "1.5"):
        with pytest.raises(UserError, match="needs a turn's number"):
            fork_argument(wrong)


def test_fan_takes_a_count_or_models_and_perhaps_a_prompt() -> None:
    assert fan_argument("3") == ("3", "")
    assert fan_argument("3 why? ") == ("3", "why? ")
    assert fan_argument("3\nwhy?\nand how?") == ("3", "why?\nand how?")
    assert fan_argument("a,b why?") == ("a,b", "why?")
    assert fan_argument("a, b, c why?") == ("a,b,c", "why?")
    assert fan_models("3") == 3
    assert fan_models(" a, b ,") == ["a", "b"]
    for wrong in ("", "1", "9", "99999999999", "a", ",", "0", "-2", "1.5", "٣"):
        with pytest.raises(UserError, match="2 to 8"):
            fan_models(wrong)


def test_carry_takes_turns_or_a_summary_and_a_branch() -> None:
    assert carry_argument("2 main") == ([2], "main")
    assert carry_argument("2-4 a title") == ([2, 3, 4], "a title")
    assert carry_argument('1,3-5 "a title"') == ([1, 3, 4, 5], "a title")
    assert carry_argument("Summary main") == (None, "main")
    for wrong in ("2", "main", "two main", "4-2 main", "-2 main", "1-99999 main", "2- main", ", main"):
        with pytest.raises(UserError):
            carry_argument(wrong)
    assert turns_of("7,2") == [7, 2]


def test_budget_takes_an_amount_and_perhaps_the_word_branch() -> None:
    assert budget_argument("0.50") == ("0.50", False)
    assert budget_argument("$2  Branch") == ("$2", True)
    with pytest.raises(UserError, match="the word branch"):
        budget_argument("0.50 trunk")


def test_only_quotes_around_the_whole_are_removed() -> None:
    assert unquote("'a b'") == "a b"
    assert unquote("“a b”") == "a b"
    assert unquote('"a') == '"a'
    assert unquote('"') == '"'
    assert unquote('""') == ""


def test_a_command_needs_an_argument_unless_it_is_in_brackets() -> None:
    assert Command("a", "A", "A.", args="N [name]").needs_argument
    assert not Command("a", "A", "A.", args="[title]").needs_argument
    assert not Command("a", "A", "A.").needs_argument
