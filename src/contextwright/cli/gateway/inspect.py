"""`cw inspect`: the page that shows what the model saw, in the browser."""

from __future__ import annotations

import secrets
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Annotated
from urllib.parse import quote

from msgspec import to_builtins

from contextwright.cli.demo import BUDGET, demo_conversation
from contextwright.cli.gateway.serve import listening
from contextwright.cli.options import Argument, Option, StoreOptions, given, refuse
from contextwright.cli.output import note
from contextwright.cli.stores import existing
from contextwright.errors import MissingExtra, UsageError
from contextwright.store.store import Store

__all__ = ["inspect"]

DEMO = "kitchen"
DEMO_VIEW = f"c/{DEMO}?model=claude-sonnet-5-5&budget={BUDGET}&"


def inspect(
    where: StoreOptions,
    location: Annotated[
        str | None, Argument("[STORE]", help="File or address of a store. Default: your own.")
    ] = None,
    conversation: Annotated[
        str | None,
        Option("--conversation", "-c", metavar="ID", help="Open this conversation."),
    ] = None,
    demo: Annotated[
        bool, Option("--demo", help="Show the conversation of cw demo; your store is not read.")
    ] = False,
    port: Annotated[
        int, Option("--port", "-p", min=0, max=65535, help="Port to listen on; 0: any.")
    ] = 0,
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the browser, or only print the link.")
    ] = True,
) -> int:
    """See what the model saw, in the browser.

    Shows every request that a conversation has led to: which messages it held, which it left out
    and why, what came from the prompt cache, where the cache broke and what that cost. The page
    is served on this machine only, to those who have the link. Ctrl-C ends it.

    \b
    cw inspect
    cw inspect chats.db --conversation trip
    cw inspect --demo
    """
    try:
        from contextwright.serve import GatewaySettings, create_app
        from contextwright.serve.server import GatewayServer
    except ImportError as error:
        raise MissingExtra("the inspector", "serve") from error
    if demo:
        named = {"STORE": location, **given(where), "--conversation": conversation}
        refuse(named, "has no effect with --demo")
    if location is not None and where.store is not None:
        raise UsageError("the store is named twice", hint="leave out --store")
    if location is not None:
        where = StoreOptions(store=location, tenant=where.tenant)
    token = secrets.token_urlsafe(32)
    view = f"c/{quote(conversation, safe='')}?" if conversation else "?"
    with listening("127.0.0.1", port) as listener, shown(where, demo) as store:
        if conversation is not None:
            store.conversation(conversation).details()
        host = f"http://127.0.0.1:{listener.getsockname()[1]}"
        link = f"{host}/#/{DEMO_VIEW if demo else view}token={token}"
        note(f"cw: {link}")
        if browser:
            webbrowser.open(link)
        app = create_app(GatewaySettings(), token=token, store=store)
        GatewayServer(app).run(sockets=[listener])
    return 0


@contextmanager
def shown(where: StoreOptions, demo: bool) -> Generator[Store]:
    """Yield the store to show; that of the demonstration lasts as long as the page."""
    if not demo:
        with existing(where) as store:
            yield store
        return
    with TemporaryDirectory() as folder, Store(f"{folder}/demo.db") as store:
        made = demo_conversation()
        chat = store.conversation(DEMO)
        chat.add(made.messages)
        chat.update(title="Renovating the kitchen", settings={"tools": to_builtins(made.tools)})
        yield store
