"""The application `cw`: a group of commands that are loaded when they run."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any

import typer
from typer._click.shell_completion import CompletionItem
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from contextwright.cli import commands

__all__ = ["app"]

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
NEGATIVE = re.compile(r"-\d+")
"""An id like those of Telegram's groups. No option consists of digits."""


class LazyCommand(TyperCommand):
    """A command that takes negative numbers as arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of a call."""
        return super().parse_args(ctx, self.with_negative_numbers(args))

    def with_negative_numbers(self, args: list[str]) -> list[str]:
        """Put arguments after `--` if one of them looks like an option but is a number."""
        takes_value = {
            name for option in self.params for name in option.opts if not is_flag(option)
        }
        options: list[str] = []
        words: list[str] = []
        rest = list(args)
        while rest and rest[0] != "--":
            argument = rest.pop(0)
            if NEGATIVE.fullmatch(argument) or not argument.startswith("-") or argument == "-":
                words.append(argument)
            else:
                options.append(argument)
                if argument in takes_value and rest:
                    options.append(rest.pop(0))
        if not any(map(NEGATIVE.fullmatch, words)):
            return args
        return [*options, "--", *words, *rest[1:]]


def is_flag(option: Any) -> bool:
    """Whether a parameter is an option without a value."""
    return bool(getattr(option, "is_flag", True))


class LazyGroup(TyperGroup):
    """The commands of the table, each imported on first use."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        names = (name for group in commands.GROUPS.values() for name in group)
        self.commands = dict.fromkeys(names)  # pyright: ignore[reportAttributeAccessIssue]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a command."""
        command = commands.find(cmd_name)
        return None if command is None else loaded(cmd_name, command)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by task, without loading them."""
        width = max(map(len, self.commands))
        for title, group in commands.GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), one.help) for name, one in group.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command, without loading any."""
        options = super(TyperGroup, self).shell_complete(ctx, incomplete)
        found = [
            CompletionItem(name, help=one.help)
            for group in commands.GROUPS.values()
            for name, one in group.items()
            if name.startswith(incomplete)
        ]
        return [*found, *options]


@cache
def loaded(name: str, command: commands.Command) -> Any:
    """Return a command that can be called any number of times."""
    single = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=CONTEXT,
    )
    single.command(name, cls=LazyCommand)(commands.load(command))
    return get_command(single)


app = typer.Typer(
    cls=LazyGroup,
    help="Decide what a language model sees: build, convert, check, count and store requests.",
    epilog="Everywhere, - is standard input. Start with: cw demo",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
)


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"contextwright {version('contextwright')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options of `cw` itself."""
