"""`cw mcp`: the store as tools for programs that speak MCP."""

from __future__ import annotations

import sys

from contextwright.cli.options import StoreOptions
from contextwright.cli.stores import opened
from contextwright.errors import UsageError

__all__ = ["mcp"]


def mcp(where: StoreOptions) -> int:
    """Give a program your store as MCP tools.

    Serves the tools recall, search, remember and explain on standard input and output, for
    programs that start MCP servers themselves. Needs pip install 'contextwright[mcp]'.

    \b
    cw mcp --store chats.db
    claude mcp add chats -- cw mcp --store chats.db
    """
    from contextwright.integrations.mcp import create_server  # names the extra if it is missing

    if sys.stdin is None or sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        hint = "let the program that uses the tools start this command"
        raise UsageError("MCP needs standard input and standard output", hint=hint)
    with opened(where) as store:
        create_server(store).run()
    return 0
