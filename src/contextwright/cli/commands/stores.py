"""A store and its conversations: add, list, read, doctor, reindex, backup, copy."""

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


@app.command()
def doctor(
    store: StorePlace = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be told from the rest.")
    ] = False,
    backup: Annotated[
        bool, typer.Option("--backup/--no-backup", help="Put a copy beside the file before.")
    ] = True,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Count the tokens of every message again.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Look whether a store is in order; the exit code is 1 if it is not.

    The database, its settings and versions; of every conversation of every tenant the numbers,
    turns, messages, marks, waiting calls, token totals and vectors. --repair puts right the last
    number, marks, waiting calls and totals, removes vectors to be made anew, and says so; it never
    touches a message.

    \b
    cw doctor
    cw doctor --store chat.db --repair
    """
    from contextwright.cli import care as command

    return command.doctor(store, repair=repair, backup=backup, thorough=thorough, as_json=as_json)


@app.command()
def reindex(
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="ID", help="Only this. Default: all."),
    ] = None,
    embedder: Annotated[
        Literal["auto", "wordllama", "none"],
        typer.Option("--embedder", help="What makes vectors; auto: wordllama if installed."),
    ] = "auto",
    again: Annotated[
        bool, typer.Option("--again", help="Throw the index away first, and make it anew.")
    ] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Remove the vectors of all other embedders.")
    ] = False,
    store: StorePlace = None,
    tenant: Tenant = "",
    as_json: AsJson = False,
) -> int:
    """Bring the index of words and vectors up to date, by which messages are found.

    Nobody has to: what a search or a recall lacks is made when it asks. Interrupted, it goes on
    where it was.

    \b
    cw reindex --store chat.db
    cw reindex --conversation lunch --again
    """
    from contextwright.cli import care as command

    return command.reindex(
        store,
        tenant,
        conversation=conversation,
        embedder=None if embedder == "none" else embedder,
        again=again,
        drop=drop,
        as_json=as_json,
    )


@app.command()
def backup(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A file that is not there yet.")],
    store: StorePlace = None,
) -> int:
    """Copy an SQLite store into a new file, as it is at this moment, while others write.

    \b
    cw backup chat-monday.db --store chat.db
    """
    from contextwright.cli import care as command

    return command.back_up_store(target, store)


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A store: a file or a URL.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Another, or a new one.")],
    as_json: AsJson = False,
) -> int:
    """Bring everything from one store into another, SQLite or Postgres, and compare the two.

    Conversations of all tenants with their forks, turns, keys and marks; messages byte for byte.
    Again, it brings what is new; titles, settings and marks become those of the source. A
    conversation of the target that holds other messages is a conflict, and nothing is written.

    \b
    cw copy chat.db postgresql://host/database
    cw copy postgresql://host/database chat.db
    """
    from contextwright.cli import care as command

    return command.copy_store(source, target, as_json=as_json)
