"""Every command of the program, in one list.

Owns their names, keys, slash forms and words. What is made of them is ``commands``'s; how they are carried
out is the screens'. Knows no Textual. What is listed works.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Scope = Literal["global", "composer", "turn", "branch", "usage", "fan", "compare", "report"]

SCOPES: Mapping[Scope, str] = {
    "global": "Everywhere",
    "composer": "In the composer",
    "turn": "On a turn (in Turns and in the transcript)",
    "branch": "On a branch",
    "usage": "In Usage",
    "fan": "Among the answers of a fan-out",
    "compare": "In a comparison",
    "report": "In the full view of usage",
}
"""The scopes in the order of the help screen, and what they are called there."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the program can be told to do."""

    id: str
    title: str
    """What the palette says."""
    help: str
    """A sentence for the help screen."""
    scope: Scope = "global"
    keys: tuple[str, ...] = ()
    """In Textual's spelling; the first is the one that is shown."""
    slash: str | None = None
    """Without the slash."""
    args: str = ""
    """As shown after the slash command: ``N [name]``; capitals are needed, brackets optional."""
    prose: bool = False
    """Whether its argument may go on over several lines, because it ends in a prompt."""
    footer: str = ""
    """A word for the footer; empty keeps the command out of it."""
    palette: bool = True
    """Whether the palette lists it: not so for what only means something while typing."""

    @property
    def needs_argument(self) -> bool:
        """Whether its slash form cannot do without an argument."""
        return bool(self.args) and not self.args.startswith("[")


COMMANDS: tuple[Command, ...] = (
    Command(
        "app.help", "Help", "Show the keys and commands in force.", keys=("f1",), slash="help", footer="Help"
    ),
    Command(
        "panel.branches",
        "Branches",
        "Unfold and focus the branches; pressed there, fold them.",
        keys=("f2",),
        slash="branches",
        footer="Branches",
    ),
    Command(
        "panel.turns",
        "Turns",
        "Unfold and focus the turns; pressed there, fold them.",
        keys=("f3",),
        footer="Turns",
    ),
    Command(
        "panel.usage",
        "Usage",
        "Unfold and focus the usage; pressed there, fold it.",
        keys=("f4",),
        slash="usage",
        args="[full]",
        footer="Usage",
    ),
    Command(
        "panel.transcript",
        "Transcript",
        "Focus the transcript; pressed there, return to the composer.",
        keys=("f5",),
        footer="Transcript",
    ),
    Command(
        "conversation.new",
        "New conversation",
        "Begin a conversation.",
        keys=("ctrl+n",),
        slash="new",
        args="[title]",
        footer="New",
    ),
    Command(
        "conversation.open", "Open a conversation", "List the conversations.", keys=("ctrl+o",), footer="Open"
    ),
    Command(
        "conversation.search",
        "Search everything",
        "Find a text in every conversation.",
        keys=("ctrl+f",),
        slash="search",
        args="TEXT",
        footer="Search",
    ),
    Command("conversation.rename", "Rename this conversation", "Give the conversation another title."),
    Command(
        "conversation.export",
        "Export this conversation",
        "Write the conversation into a file.",
        slash="export",
        args="FILE",
    ),
    Command(
        "app.palette",
        "Command palette",
        "Find any command.",
        keys=("ctrl+p",),
        footer="Commands",
        palette=False,
    ),
    Command(
        "branch.previous", "Previous sibling branch", "Show the sibling before this one.", keys=("alt+up",)
    ),
    Command("branch.next", "Next sibling branch", "Show the sibling after this one.", keys=("alt+down",)),
    Command("branch.parent", "Parent branch", "Show the branch this one was forked from.", keys=("alt+left",)),
    Command(
        "branch.child", "First child branch", "Show the first branch forked from here.", keys=("alt+right",)
    ),
    Command(
        "branch.fan",
        "Fan out",
        "Send one prompt to several sibling branches at once, each to its own model if named.",
        slash="fan",
        args="N|MODEL,MODEL [prompt]",
        prose=True,
    ),
    Command("branch.answers", "Show the fan-out", "Show the answers of the last fan-out side by side."),
    Command(
        "branch.compare",
        "Compare with a branch",
        "Put this branch and another one side by side from their fork point.",
        slash="compare",
        args="NAME",
    ),
    Command(
        "turn.carry",
        "Carry turns over",
        "Copy turns of this branch, or a summary of it, onto the end of another branch.",
        slash="carry",
        args="TURNS|summary BRANCH",
    ),
    Command(
        "budget.set",
        "Set a budget",
        "Limit what this conversation, or with the word branch this branch, may cost in dollars; off lifts it.",
        slash="budget",
        args="AMOUNT [branch]",
    ),
    Command("model.set", "Change the model", "Use another model from now on.", slash="model", args="NAME"),
    Command("app.theme", "Dark or light", "Change between the dark and the light theme."),
    Command(
        "app.escape",
        "Close or stop",
        "Close the topmost open thing; with nothing open, stop the answer shown.",
        keys=("escape",),
        footer="Stop",
    ),
    Command("app.copy", "Copy the selection", "Copy what is selected.", keys=("ctrl+c",)),
    Command("app.suspend", "Suspend", "Return to the shell; fg comes back.", keys=("ctrl+z",)),
    Command("app.quit", "Quit", "Quit; asks only while an answer is running.", keys=("ctrl+q",), footer="Quit"),
    Command(
        "composer.send",
        "Send",
        "Send the prompt, or run the slash command.",
        "composer",
        keys=("enter",),
        footer="Send",
        palette=False,
    ),
    Command(
        "composer.newline",
        "New line",
        "Begin a new line.",
        "composer",
        keys=("ctrl+j", "shift+enter", "alt+enter"),
        footer="New line",
        palette=False,
    ),
    Command("composer.editor", "Edit in $EDITOR", "Edit the text in $EDITOR.", "composer", keys=("ctrl+g",)),
    Command("composer.undo", "Undo typing", "Take the last edit back.", "composer", keys=("ctrl+underscore",)),
    Command("composer.unqueue", "Take a queued prompt back", "Put the newest queued prompt into the composer."),
    Command(
        "turn.fork",
        "Fork here",
        "Fork before the turn: the next prompt begins a new branch.",
        "turn",
        keys=("f",),
        slash="fork",
        args="N [name]",
        footer="Fork",
    ),
    Command(
        "turn.branch", "Fork after this turn", "Fork after the turn, keeping its answer.", "turn", keys=("F",)
    ),
    Command(
        "turn.edit",
        "Edit and resend",
        "Fork, with the turn's prompt in the composer.",
        "turn",
        keys=("e",),
        footer="Edit",
    ),
    Command(
        "turn.regenerate",
        "Regenerate",
        "Fork, and send the same prompt again.",
        "turn",
        keys=("r",),
        footer="Regenerate",
    ),
    Command(
        "turn.compare",
        "Compare this turn",
        "Compare the branch with a sibling that parts at the turn, or with the marked branch.",
        "turn",
        keys=("c",),
        footer="Compare",
    ),
    Command("turn.copy", "Copy this turn", "Copy the turn's text.", "turn", keys=("y",), footer="Copy"),
    Command("turn.continue", "Continue this answer", "Go on after an answer that broke off.", "turn"),
    Command("turn.retry", "Retry this turn", "Ask again after an answer that broke off.", "turn"),
    Command("turn.discard", "Discard this answer", "Drop what an interrupted answer left.", "turn"),
    Command(
        "branch.switch",
        "Switch to this branch",
        "Show the branch.",
        "branch",
        keys=("enter",),
        slash="switch",
        args="NAME",
        footer="Switch",
    ),
    Command(
        "branch.rename",
        "Rename this branch",
        "Give the branch another title.",
        "branch",
        keys=("n",),
        slash="rename",
        args="NAME",
        footer="Rename",
    ),
    Command(
        "branch.delete",
        "Delete this branch",
        "Put the branch into the bin; undo brings it back.",
        "branch",
        keys=("d",),
        slash="delete",
        args="NAME",
        footer="Delete",
    ),
    Command(
        "branch.mark",
        "Mark for comparison",
        "Mark the branch; marking a second one compares the two.",
        "branch",
        keys=("m",),
        footer="Mark",
    ),
    Command(
        "branch.pin",
        "Pin this branch",
        "Pin the branch before its siblings, or let it go.",
        "branch",
        keys=("p",),
        footer="Pin",
    ),
    Command(
        "branch.fold",
        "Fold or unfold",
        "Hide what was forked from the branch, or show it again.",
        "branch",
        keys=("space",),
        footer="Fold",
    ),
    Command(
        "branch.filter",
        "Filter the branches",
        "Show only branches whose titles hold a text.",
        "branch",
        keys=("slash",),
        footer="Filter",
    ),
    Command(
        "branch.colour",
        "Colour the branches",
        "Colour the branches by cost, by age or by model.",
        "branch",
        keys=("o",),
        footer="Colour",
    ),
    Command("branch.bin", "Open the bin", "List the deleted branches; Enter brings one back."),
    Command(
        "branch.undo", "Undo", "Take the last deletion or renaming back.", "branch", keys=("u",), footer="Undo"
    ),
    Command(
        "usage.full",
        "Usage over time",
        "Show usage full-screen: by day, model, branch, conversation.",
        "usage",
        keys=("enter", "v"),
        footer="Full view",
    ),
    Command(
        "usage.previous",
        "Previous turn's bar",
        "Move to the turn before.",
        "usage",
        keys=("left",),
        palette=False,
    ),
    Command(
        "usage.next", "Next turn's bar", "Move to the turn after.", "usage", keys=("right",), palette=False
    ),
    Command(
        "fan.keep",
        "Keep this answer",
        "Go on with the answer; the others stay as its siblings.",
        "fan",
        keys=("enter", "k"),
        footer="Keep",
        palette=False,
    ),
    Command(
        "fan.fork",
        "Fork this answer",
        "Begin a new branch after the answer.",
        "fan",
        keys=("f",),
        footer="Fork",
        palette=False,
    ),
    Command(
        "fan.copy",
        "Copy this answer",
        "Copy the answer's text.",
        "fan",
        keys=("y",),
        footer="Copy",
        palette=False,
    ),
    Command(
        "fan.stop",
        "Stop this answer",
        "Stop the answer; what came stays.",
        "fan",
        keys=("s",),
        footer="Stop",
        palette=False,
    ),
    Command(
        "fan.left",
        "Answer to the left",
        "Choose the answer before; 1 to 8 choose by number.",
        "fan",
        keys=("left", "shift+tab"),
        footer="Choose",
        palette=False,
    ),
    Command(
        "fan.right",
        "Answer to the right",
        "Choose the answer after.",
        "fan",
        keys=("right", "tab"),
        palette=False,
    ),
    Command("fan.up", "Answer above", "Choose the answer above.", "fan", keys=("up",), palette=False),
    Command("fan.down", "Answer below", "Choose the answer below.", "fan", keys=("down",), palette=False),
    Command(
        "compare.next",
        "Next difference",
        "Go to the next turn that differs.",
        "compare",
        keys=("n",),
        footer="Next",
        palette=False,
    ),
    Command(
        "compare.previous",
        "Previous difference",
        "Go to the turn before that differs.",
        "compare",
        keys=("p",),
        footer="Previous",
        palette=False,
    ),
    Command(
        "compare.layout",
        "Beside or below",
        "Put the branches side by side, or one below the other.",
        "compare",
        keys=("s",),
        footer="Layout",
        palette=False,
    ),
    Command(
        "compare.left",
        "Switch to the left branch",
        "Show the left branch.",
        "compare",
        keys=("1",),
        footer="Go left",
        palette=False,
    ),
    Command(
        "compare.right",
        "Switch to the right branch",
        "Show the right branch.",
        "compare",
        keys=("2",),
        footer="Go right",
        palette=False,
    ),
    Command(
        "report.next",
        "Next cut",
        "Go on from days to models, branches, conversations.",
        "report",
        keys=("right", "tab"),
        footer="Next",
        palette=False,
    ),
    Command(
        "report.previous",
        "Previous cut",
        "Go back among days, models, branches, conversations.",
        "report",
        keys=("left", "shift+tab"),
        footer="Previous",
        palette=False,
    ),
    Command(
        "report.span",
        "Another span of time",
        "Change between 7 days, 30 days, a year, and ever.",
        "report",
        keys=("t",),
        footer="Time",
        palette=False,
    ),
    Command(
        "report.scope",
        "This conversation or all",
        "Change between this conversation and all of them.",
        "report",
        keys=("c",),
        footer="This or all",
        palette=False,
    ),
)
"""Every command. The order is the palette's."""
