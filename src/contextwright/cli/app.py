"""The application `cw`: a group of commands that are loaded when they run."""

from __future__ import annotations

from functools import cache
from typing import Any

import click
from click.shell_completion import CompletionItem

from contextwright.cli import commands
from contextwright.cli.parser import CONTEXT

__all__ = ["app"]


class LazyGroup(click.Group):
    """The commands of the table, each imported on first use."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        names = (name for group in commands.GROUPS.values() for name in group)
        self.commands = dict.fromkeys(names)  # pyright: ignore[reportAttributeAccessIssue]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the command: nothing but options of `cw` itself."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.possibilities:
                raise
            wrong = f"No such option {error.option_name!r}: options stand after the command"
            raise click.UsageError(wrong, ctx) from None

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """Load a command."""
        command = commands.find(cmd_name)
        return None if command is None else loaded(cmd_name, command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by task, without loading them."""
        width = max(map(len, self.commands))
        for title, group in commands.GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), one.help) for name, one in group.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, without loading any."""
        options = super(click.Group, self).shell_complete(ctx, incomplete)
        found = [
            CompletionItem(name, help=one.help)
            for group in commands.GROUPS.values()
            for name, one in group.items()
            if name.startswith(incomplete)
        ]
        return [*found, *options]


@cache
def loaded(name: str, command: commands.Command) -> click.Command:
    """Return a command that can be called any number of times."""
    return commands.load(name, command)


def print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from importlib.metadata import version

        click.echo(f"contextwright {version('contextwright')}")
        context.exit()


def print_completion(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the script that completes in the user's shell, and stop."""
    if wanted:
        from contextwright.cli.completion import own_shell, script_of

        click.echo(script_of(app, own_shell()))
        context.exit()


def install_completion(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Install completion for the user's shell, and stop."""
    if wanted:
        from contextwright.cli.completion import install, own_shell

        for line in install(app, own_shell()):
            click.echo(line)
        context.exit()


def at_once(callback: Any) -> dict[str, Any]:
    """Return the settings of an option that runs instead of a command."""
    return {"is_flag": True, "is_eager": True, "expose_value": False, "callback": callback}


@click.group(
    cls=LazyGroup,
    help="Decide what a language model sees: build, convert, check, count and store requests.",
    epilog="Everywhere, - is standard input. Start with: cw demo",
    context_settings=CONTEXT,
)
@click.option("--version", **at_once(print_version), help="Print the version and exit.")
@click.option(
    "--install-completion",
    **at_once(install_completion),
    help="Install completion for your shell: bash, zsh or fish.",
)
@click.option(
    "--show-completion",
    **at_once(print_completion),
    help="Print the completion script for your shell.",
)
def app() -> None:
    """Options of `cw` itself."""
