"""What the package knows: formats, models, recipes, and a demonstration."""

from __future__ import annotations

from typing import Annotated

import typer

from contextwright.cli.app import app
from contextwright.cli.options import (
    AsJson,
    ModelsFile,
)


@app.command()
def formats(as_json: AsJson = False) -> int:
    """List the formats."""
    from contextwright.cli import tables as command

    return command.formats(as_json=as_json)


@app.command(name="models")
def models_command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One model.")] = None,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """List the known models, or all that is known about one.

    A name that is not in the table gets the facts of its longest known beginning or of its
    family, and says so.

    \b
    cw models
    cw models claude-sonnet-5-5
    cw models my-model --models my-models.toml --json
    """
    from contextwright.cli import tables as command

    return command.models(name, models, as_json=as_json)


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(metavar="NAME|FILE", help="One recipe.")] = None,
    as_json: AsJson = False,
) -> int:
    """List the recipes that come with the package, or print one to start your own from.

    A file is read and checked first.

    \b
    cw recipes
    cw recipes gryag > mine.toml
    """
    from contextwright.cli import tables as command

    return command.recipes(name, as_json=as_json)


@app.command()
def demo(
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="MODEL", help="Who the request is for.")
    ] = "claude-sonnet-5-5",
    models: ModelsFile = None,
) -> int:
    """Build the request for an example conversation and explain it.

    \b
    cw demo
    cw demo --model gemini-3.5-flash
    """
    from contextwright.cli import demo as command
    from contextwright.cli.input import find_model

    return command.run(find_model(model, models))
