"""The application `cw`: its name, its help, and the options of its own."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    help="Decides what a language model sees: builds, converts, checks, counts and shows requests.",
    epilog="Everywhere, - is standard input. Start with: cw demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
            "--version", callback=print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Options of `cw` itself."""
