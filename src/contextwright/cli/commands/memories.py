"""What is known beyond the talk: remember, memories, episodes."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from contextwright.cli.app import app
from contextwright.cli.options import AsJson, Conversation, StorePlace, Tenant

Scope = Annotated[
    str | None,
    typer.Option("--scope", metavar="CONVERSATION", help="Told in this conversation alone."),
]


@app.command()
def remember(
    about: Annotated[str, typer.Argument(metavar="ABOUT", help="The id of the person.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is known; - reads it.")],
    kind: Annotated[
        Literal["memory", "profile", "fact", "episode"],
        typer.Option("--kind", help="A note, a summary, a labelled fact, an event."),
    ] = "memory",
    key: Annotated[
        str, typer.Option("--key", metavar="LABEL", help="What a fact is of, or an event's topic.")
    ] = "",
    scope: Scope = None,
    author: Annotated[
        str | None, typer.Option("--author", metavar="WHO", help="Who says so.")
    ] = None,
    store: StorePlace = None,
    tenant: Tenant = "",
) -> int:
    """Store what is known about somebody, and print the memory's id.

    \b
    cw remember alice "Likes coffee"
    cw remember alice Kyiv --kind fact --key location
    """
    from contextwright.cli import memories as command

    return command.remember(
        about, text, store, tenant, kind=kind, key=key, scope=scope, author=author
    )


@app.command()
def memories(
    about: Annotated[
        str | None, typer.Argument(metavar="[ABOUT]", help="The id of a person. Default: all.")
    ] = None,
    kind: Annotated[
        Literal["memory", "profile", "fact", "episode"] | None,
        typer.Option("--kind", help="Only these."),
    ] = None,
    scope: Scope = None,
    forget: Annotated[
        str | None, typer.Option("--forget", metavar="ID", help="Remove one for good instead.")
    ] = None,
    as_json: AsJson = False,
    store: StorePlace = None,
    tenant: Tenant = "",
) -> int:
    """List what is remembered, oldest first."""
    from contextwright.cli import memories as command

    if forget is not None:
        return command.forget(forget, store, tenant)
    return command.memories(about, store, tenant, kind=kind, scope=scope, as_json=as_json)


@app.command()
def episodes(
    conversation: Conversation,
    make: Annotated[
        bool, typer.Option("--make", help="Make those first that are missing, without a model.")
    ] = False,
    as_json: AsJson = False,
    tenant: Tenant = "",
    store: StorePlace = None,
) -> int:
    """List what a conversation was about, event by event.

    Each line says when it was, which messages, who took part, how much it weighs (0 to 1), and
    the topic. Events of which a message is hidden by now are not told; --make makes them anew.
    """
    from contextwright.cli import memories as command

    return command.episodes(conversation, store, tenant, make=make, as_json=as_json)
