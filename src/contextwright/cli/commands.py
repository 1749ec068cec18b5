"""The table of commands: the module of each, and its line in `cw --help`.

A module is imported when its command runs, so that `cw --help` loads none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from contextwright.cli.parser import command_of

__all__ = ["GROUPS", "Command", "find", "load"]


class Command(NamedTuple):
    """The function of a command (`module:function`), and its help line."""

    place: str
    help: str


GROUPS: dict[str, dict[str, Command]] = {
    "Start here": {
        "demo": Command("demo:demo", "See a budget, a cached prefix and a recall at work."),
    },
    "Requests": {
        "build": Command(
            "requests.build:build", "Build the best request that fits a token budget."
        ),
        "explain": Command(
            "requests.build:explain", "Explain what a request holds, drops and costs."
        ),
        "diff": Command(
            "requests.diff:diff", "Compare two requests and find where the cache breaks."
        ),
        "simulate": Command(
            "requests.simulate:simulate", "Replay a recorded conversation and price it."
        ),
        "tune": Command("requests.tune:tune", "Find the window that is worth its price."),
        "summarise": Command(
            "requests.summarise:summarise", "Summarise what the window leaves out."
        ),
    },
    "Files": {
        "convert": Command("requests.convert:convert", "Convert a conversation to another format."),
        "check": Command("requests.check:check", "List what a provider would refuse in a request."),
        "fix": Command("requests.convert:fix", "Repair a request and list what was changed."),
        "count": Command("requests.check:count", "Count the tokens of a request or of plain text."),
        "show": Command("conversations.show:show", "Show a conversation as people read it."),
        "batch": Command("batch:batch", "Run an operation over a whole data set."),
    },
    "Conversations": {
        "chat": Command("chat.command:chat", "Talk with a model; every turn is stored."),
        "add": Command("conversations.chats:add", "Store a message and print its number."),
        "list": Command(
            "conversations.chats:list_all", "List conversations, the last active first."
        ),
        "read": Command("conversations.chats:read", "Print stored messages with their numbers."),
        "hide": Command("conversations.edit:hide", "Hide messages from every request."),
        "show-again": Command(
            "conversations.edit:show_again", "Show hidden or deleted messages again."
        ),
        "pin": Command("conversations.edit:pin", "Pin messages, so that no window drops them."),
        "unpin": Command("conversations.edit:unpin", "Let windows drop pinned messages again."),
        "edit": Command("conversations.erase:edit", "Change the text of a stored message."),
        "rename": Command("conversations.edit:rename", "Rename a conversation, or set its title."),
        "rm": Command("conversations.edit:remove", "Remove conversations for good."),
        "erase": Command(
            "conversations.erase:erase", "Erase messages, people or tenants for good."
        ),
        "import": Command(
            "conversations.transfer:import_files", "Import conversations of other tools."
        ),
        "export": Command("conversations.transfer:export", "Export conversations in any format."),
        "append-stream": Command(
            "conversations.streams:append_stream", "Store turns from JSON Lines."
        ),
        "dump": Command("conversations.streams:dump", "Print a conversation as JSON Lines."),
    },
    "Memory": {
        "recall": Command(
            "conversations.recall:recall", "Recall the messages that a question needs."
        ),
        "search": Command("conversations.recall:search", "Find messages by their words."),
        "remember": Command("conversations.memories:remember", "Store a memory and print its id."),
        "memories": Command("conversations.memories:memories", "List memories, oldest first."),
        "forget-memory": Command(
            "conversations.memories:forget_memory", "Remove a memory for good."
        ),
        "episodes": Command(
            "conversations.memories:episodes", "List the episodes of a conversation."
        ),
    },
    "Gateway": {
        "inspect": Command("gateway.inspect:inspect", "See what the model saw, in the browser."),
        "serve": Command("gateway.serve:serve", "Run a gateway between clients and any provider."),
        "mcp": Command("gateway.mcp:mcp", "Give a program your store as MCP tools."),
        "record": Command("gateway.record:record", "Run a program and record what it asks models."),
        "requests": Command(
            "gateway.requests:list_requests", "List recorded requests, the newest last."
        ),
        "show-request": Command(
            "gateway.requests:show_request", "Show a recorded request, or one of its bodies."
        ),
        "replay": Command(
            "gateway.replay:replay", "Write a recorded request for another API, or resend it."
        ),
    },
    "Stores": {
        "tenants": Command(
            "conversations.erase:tenants", "List the tenants of a store, and how much each has."
        ),
        "doctor": Command("maintenance:doctor", "Check a store for damage and repair it."),
        "reindex": Command("maintenance:reindex", "Update the search index of a store."),
        "backup": Command("maintenance:backup", "Back up an SQLite store to a new file."),
        "copy": Command("maintenance:copy", "Copy a store to another, SQLite or Postgres."),
    },
    "Reference": {
        "formats": Command("catalogue:formats", "List the formats."),
        "models": Command("catalogue:models", "List the known models, or one model's facts."),
        "recipes": Command("catalogue:recipes", "List the shipped recipes, or print one."),
    },
}
"""Commands by name, in the groups and the order in which `cw --help` lists them."""


def find(name: str) -> Command | None:
    """Return the command with that name, or None."""
    return next((commands[name] for commands in GROUPS.values() if name in commands), None)


def load(name: str, command: Command) -> click.Command:
    """Import a command's module and return the command."""
    module, _, function = command.place.partition(":")
    return command_of(name, getattr(import_module(f"contextwright.cli.{module}"), function))
