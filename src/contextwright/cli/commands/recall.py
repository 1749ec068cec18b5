"""What was said before: search finds words, recall what a question needs."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from contextwright.cli.app import app
from contextwright.cli.options import AsJson, ModelName, StorePlace, Tenant

Where = Annotated[
    str | None,
    typer.Option("--conversation", "-c", metavar="ID", help="Only here. Default: everywhere."),
]


@app.command()
def recall(
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="A question, or just words; - is stdin."),
    ],
    conversation: Where = None,
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="PERSON", help="Only what they said: an id or a name."),
    ] = None,
    budget: Annotated[
        int, typer.Option("--budget", "-b", min=1, metavar="N", help="Tokens of all lines.")
    ] = 2_000,
    most: Annotated[
        int | None, typer.Option("--most", min=1, metavar="N", help="At most so many messages.")
    ] = None,
    least: Annotated[
        float,
        typer.Option(
            "--least", min=0.0, max=1.0, metavar="P", help="Only what scores so much, 0 to 1."
        ),
    ] = 0.0,
    model: ModelName = None,
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            metavar="TIME",
            help="When it is asked (ISO 8601): “last week” is told from it. Default: now.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="A table of scores and reasons instead.")
    ] = False,
    embedder: Annotated[
        Literal["auto", "wordllama", "none"],
        typer.Option("--embedder", help="What makes vectors; none: words alone."),
    ] = "auto",
    as_json: AsJson = False,
    store: StorePlace = None,
    tenant: Tenant = "",
) -> int:
    """Recall the messages that a question needs, within a budget of tokens.

    By words, by meaning where there is an embedder, by who spoke and when. They come in the order
    in which they were said, below their day. --model counts tokens as that model does. --explain
    says of each how likely it is to be needed, and what speaks for it. Nothing recalled is exit
    code 1.

    \b
    cw recall "What did Alice say about the train last week?"
    cw recall "allergies" --conversation lunch --about alice --budget 500
    cw recall "Where do we meet?" --most 10 --explain
    """
    from contextwright.cli import recall as command

    return command.recall(
        query,
        store,
        tenant,
        conversation=conversation,
        about=about,
        budget=budget,
        most=most,
        least=least,
        model=model,
        now=now,
        explain=explain,
        embedder=None if embedder == "none" else embedder,
        as_json=as_json,
    )


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words; - is stdin.")],
    conversation: Where = None,
    most: Annotated[int, typer.Option("--most", min=1, metavar="N", help="At most so many.")] = 20,
    as_json: AsJson = False,
    store: StorePlace = None,
    tenant: Tenant = "",
) -> int:
    """Find messages by their words, the best first.

    Each line says which share of the words the message holds, rare words counting for more, and
    where it stands. Nothing found is exit code 1.

    \b
    cw search "risotto"
    cw search "кава" --conversation lunch --most 5
    """
    from contextwright.cli import recall as command

    return command.search(
        query, store, tenant, conversation=conversation, most=most, as_json=as_json
    )
