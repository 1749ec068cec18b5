"""The slash commands of `cw chat`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from contextwright import display
from contextwright.cli.arguments import find_model
from contextwright.cli.chat.session import Session
from contextwright.cli.output import harmless, indented, list_changes, paint, say, table
from contextwright.cli.requests.diff import differences
from contextwright.cli.requests.snapshots import recipe_of
from contextwright.errors import UsageError, shown
from contextwright.text.json import encode_json

__all__ = ["COMMANDS", "run"]

MAX_DIGITS = 15
"""Maximum length of a budget; Python refuses to read thousands of digits."""

Action: TypeAlias = Callable[[Session, str], None]


class Command(NamedTuple):
    """A slash command: its function and its help."""

    action: Action
    argument: str
    help: str


def run(session: Session, line: str) -> None:
    """Run a line such as `/model claude-sonnet-5-5`.

    Raises:
        UsageError: the command does not exist, or its argument is invalid.
    """
    name, _, argument = line[1:].partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        raise UsageError(f"there is no command /{shown(name)[1:-1]}", hint="/help lists them")
    command.action(session, argument.strip())


def explain(session: Session, argument: str) -> None:
    """Print what a request holds now, what it drops, and why."""
    context = session.context()
    paint(lambda console: display.print_explanation(context, console=console))


def show_context(session: Session, argument: str) -> None:
    """Print the request as the provider would receive it."""
    say(harmless(indented(encode_json(session.context().payload)).decode()))


def diff(session: Session, argument: str) -> None:
    """Print how much the last request shares with the one before."""
    points = session.requests(2)
    if len(points) < 2:
        raise UsageError("there are no two requests to compare yet")
    before, now = (session.context(at) for at in points)
    say(table(differences(before, now, now.compared_with(before))))


def recall(session: Session, argument: str) -> None:
    """Print the messages that a question needs."""
    if not argument:
        raise UsageError("/recall needs words to look for")
    found = session.chat.recall(argument) if session.is_begun else None
    say(found.text if found and found.items else "nothing recalled")
    list_changes(found.changes if found else ())


def model(session: Session, argument: str) -> None:
    """Show or change the model."""
    if argument:
        session.use_model(find_model(argument, None))
    facts = session.task.model
    say(f"model {facts.id}" + (f" ({facts.note})" if facts.note else ""))


def budget(session: Session, argument: str) -> None:
    """Show or change the token budget of a request."""
    if argument:
        number = argument.replace(",", "").replace("_", "")
        is_number = number.isdecimal() and len(number) <= MAX_DIGITS and int(number) > 0
        if argument != "none" and not is_number:
            raise UsageError(f"{shown(argument)} is not a number of tokens", hint="/budget 8000")
        session.use_budget(None if argument == "none" else int(number))
    tokens = session.task.recipe.tokens(session.task.model, session.task.budget)
    say(f"budget {tokens:,} tokens a request")


def recipe(session: Session, argument: str) -> None:
    """Show or change the recipe."""
    if argument:
        session.use_recipe(recipe_of(argument, None))
    say(f"recipe {session.task.recipe.name}")


def undo(session: Session, argument: str) -> None:
    """Delete the last question and its answer."""
    text = session.undo()
    say("nothing to undo" if text is None else f"deleted: {shown(text)}")


def fork(session: Session, argument: str) -> None:
    """Continue in a new conversation."""
    if not argument:
        raise UsageError("/fork needs the id of the new conversation")
    if not session.is_begun:
        raise UsageError("the conversation has no messages yet")
    session.fork(argument)
    say(f"now in {shown(argument)}")


def leave(session: Session, argument: str) -> None:
    """Leave the conversation."""
    raise EOFError


def help_lines(session: Session, argument: str) -> None:
    """List the commands."""
    say(table([(f"/{name} {one.argument}".rstrip(), one.help) for name, one in COMMANDS.items()]))
    say("@PATH in a message sends a file. Esc Enter or Ctrl-J begins a new line.")


COMMANDS: dict[str, Command] = {
    "explain": Command(explain, "", "What the request holds, drops and costs."),
    "context": Command(show_context, "", "The request as the provider gets it."),
    "diff": Command(diff, "", "What the last two requests share, and what broke the cache."),
    "recall": Command(recall, "QUESTION", "Earlier messages that a question needs."),
    "model": Command(model, "[NAME]", "Show or change the model."),
    "budget": Command(budget, "[N|none]", "Show or change the tokens of a request."),
    "recipe": Command(recipe, "[NAME|FILE]", "Show or change the recipe."),
    "undo": Command(undo, "", "Delete the last question and its answer."),
    "fork": Command(fork, "ID", "Go on in a new conversation."),
    "help": Command(help_lines, "", "This list."),
    "exit": Command(leave, "", "Leave; Ctrl-D does too."),
}
"""The commands, in the order in which /help lists them."""
