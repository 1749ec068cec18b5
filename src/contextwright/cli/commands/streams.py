"""What other programs write to and read from: turns in, messages out, one line each."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from contextwright.cli.app import app
from contextwright.cli.options import StorePlace, Tenant


@app.command(name="append-stream")
def append_stream(
    store: StorePlace = None,
    tenant: Tenant = "",
    sync: Annotated[
        Literal["full", "fast"],
        typer.Option("--sync", help="What a loss of power may take: nothing, or a moment."),
    ] = "full",
    replace: Annotated[
        bool, typer.Option("--replace", help="U+FFFD for characters that cannot be stored.")
    ] = False,
) -> int:
    """Store a turn for each line of standard input, and say when it is durable.

    In: {"conversation": …, "key": …, "messages": [{"role": …, "content": …}]}. Out, once the turn
    cannot be lost: {"ack": key}. The same key again is acknowledged and stores nothing twice.
    A line that cannot be stored gives {"error": …, "key": …}, and the stream goes on.
    """
    from contextwright.cli import streams as command

    return command.append_stream(store, tenant, sync=sync, replace=replace)


@app.command()
def dump(
    conversation: Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id.")],
    store: StorePlace = None,
    tenant: Tenant = "",
) -> int:
    """Print a conversation, one message a line: {"seq", "key", "role", "text", …}."""
    from contextwright.cli import streams as command

    return command.dump(conversation, store, tenant)
