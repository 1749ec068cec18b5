"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

File = Annotated[str, typer.Argument(metavar="FILE", help="A JSON file, or - for standard input.")]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="What it is: see cw formats. Default: the model's own.",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="MODEL", help="A model's name: see cw models."),
]
ModelsFile = Annotated[
    str | None,
    typer.Option(
        "--models", metavar="FILE", help="Your own model facts (TOML or JSON), over ours."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Source = Annotated[str, typer.Option("--from", metavar="FORMAT", help="What it is.")]
FileOrConversation = Annotated[
    str,
    typer.Argument(
        metavar="FILE|CONVERSATION",
        help="With --from a JSON file, or - for standard input; else a conversation of the store.",
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="What the file is: see cw formats."),
]
Conversation = Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id.")]
Tenant = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="Whose conversations. Default: nobody's.")
]
ForModel = Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="Who reads it.")]
RecipeName = Annotated[
    str,
    typer.Option("--recipe", "-r", metavar="NAME|FILE", help="A recipe: see cw recipes."),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        "-b",
        min=1,
        metavar="N",
        help="Tokens of the whole request. Default: the recipe's, else what the model takes.",
    ),
]
Answer = Annotated[
    int | None,
    typer.Option("--answer", min=1, metavar="N", help="Tokens kept free for the answer."),
]
TargetFormat = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", metavar="FORMAT", help="The API it is for. Default: the model's own."
    ),
]
Now = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="What clocks tell (ISO 8601). Default: the time of the newest question.",
    ),
]
ToolsFile = Annotated[
    str | None,
    typer.Option("--tools", metavar="FILE", help="Tools (JSON) instead of the conversation's."),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="OUT", help="Write to this file.")
]
StorePlace = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        metavar="FILE|URL",
        help="Where conversations live: an SQLite file or postgresql://… "
        "Default: CONTEXTWRIGHT_STORE, else a file in your data folder.",
    ),
]
