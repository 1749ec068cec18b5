"""Conversations of a store: add, list, read."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from contextwright.cli.app import app
from contextwright.cli.options import AsJson, Conversation, StorePlace, Tenant


@app.command()
def add(
    conversation: Conversation,
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="What is said.")],
    role: Annotated[
        Literal["user", "assistant", "system"], typer.Option("--role", help="Who says it.")
    ] = "user",
    author: Annotated[
        str | None, typer.Option("--author", metavar="ID", help="Which person it is.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="The same key again stores nothing twice."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="U+FFFD for characters that cannot be stored.")
    ] = False,
    store: StorePlace = None,
    tenant: Tenant = "",
) -> int:
    """Store a message and print its number, once it cannot be lost.

    A conversation comes into being with its first message. Calls, results and turns of several
    messages come by cw append-stream and cw import.

    \b
    cw add lunch "Suggest lunch options please." --author U1234546
    git diff | cw add review - --key "$GITHUB_RUN_ID"
    """
    from contextwright.cli import chats as command

    return command.add(
        conversation,
        text,
        store,
        tenant,
        role=role,
        author=author,
        key=key,
        replace=replace,
    )


@app.command(name="list")
def list_command(store: StorePlace = None, tenant: Tenant = "", as_json: AsJson = False) -> int:
    """List the conversations of the store, in the order in which they were made."""
    from contextwright.cli import chats as command

    return command.list_all(store, tenant, as_json=as_json)


@app.command()
def read(
    conversation: Conversation,
    first: Annotated[
        int | None, typer.Option("--from", min=1, metavar="N", help="From this message on.")
    ] = None,
    last: Annotated[
        int | None, typer.Option("--to", min=1, metavar="N", help="Up to this message.")
    ] = None,
    tail: Annotated[
        int | None, typer.Option("--tail", min=0, metavar="N", help="The last N messages.")
    ] = None,
    store: StorePlace = None,
    tenant: Tenant = "",
    as_json: Annotated[
        bool, typer.Option("--json", help='One line each: {"seq", "key", "message"}.')
    ] = False,
) -> int:
    """Print messages with their numbers; what is hidden or deleted says so.

    \b
    cw read lunch --from 40 --to 42
    cw read lunch --tail 5 --json
    """
    from contextwright.cli import chats as command

    return command.read(
        conversation, store, tenant, first=first, last=last, tail=tail, as_json=as_json
    )
