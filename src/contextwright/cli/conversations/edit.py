"""`cw hide`, `show-again`, `pin`, `unpin`, `rename` and `rm`: changes to stored conversations."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, TypeAlias

from contextwright.cli import completion
from contextwright.cli.options import Argument, AsJson, Conversation, Option, StoreOptions
from contextwright.cli.output import note, numbered, say_json
from contextwright.cli.stores import existing, existing_chat, require_conversation
from contextwright.errors import NotFound, UsageError, shown
from contextwright.store.chat import Chat

__all__ = ["existing_messages", "hide", "pin", "remove", "rename", "show_again", "unpin"]

Numbers: TypeAlias = Annotated[
    list[int], Argument("N...", help="Numbers of messages (see cw read).")
]


# --- messages ------------------------------------------------------------------------------------


def hide(
    conversation: Conversation, numbers: Numbers, where: StoreOptions, as_json: AsJson = False
) -> int:
    """Hide messages from every request.

    Hidden messages stay in the store; cw show-again brings them back.

    \b
    cw hide lunch 12 13
    """
    return mark(conversation, numbers, where, Chat.hide, "hidden", as_json=as_json)


def show_again(
    conversation: Conversation, numbers: Numbers, where: StoreOptions, as_json: AsJson = False
) -> int:
    """Show hidden or deleted messages again.

    \b
    cw show-again lunch 12 13
    """
    return mark(conversation, numbers, where, Chat.show, "visible", as_json=as_json)


def pin(
    conversation: Conversation, numbers: Numbers, where: StoreOptions, as_json: AsJson = False
) -> int:
    """Pin messages, so that no window drops them.

    cw unpin undoes it.

    \b
    cw pin lunch 3
    """
    return mark(conversation, numbers, where, Chat.pin, "pinned", as_json=as_json)


def unpin(
    conversation: Conversation, numbers: Numbers, where: StoreOptions, as_json: AsJson = False
) -> int:
    """Let windows drop pinned messages again.

    \b
    cw unpin lunch 3
    """
    return mark(conversation, numbers, where, Chat.unpin, "not pinned", as_json=as_json)


@contextmanager
def existing_messages(where: StoreOptions, id: str, numbers: list[int]) -> Generator[Chat]:
    """Open a stored conversation that has these messages.

    Raises:
        NotFound: one of them does not exist.
    """
    with existing_chat(where, id, embedder=None) as chat:
        length = chat.length()
        for number in numbers:
            if not 1 <= number <= length:
                hint = f"it has {numbered(length, 'message')}"
                raise NotFound(f"there is no message {number:,} in {shown(id)}", hint=hint)
        yield chat


def mark(
    id: str,
    numbers: list[int],
    where: StoreOptions,
    change: Callable[[Chat, int], None],
    state: str,
    *,
    as_json: bool,
) -> int:
    """Change messages, all or none: missing numbers are found before the first change."""
    numbers = list(dict.fromkeys(numbers))
    with existing_messages(where, id, numbers) as chat:
        for number in numbers:
            change(chat, number)
    if as_json:
        say_json({"conversation": id, "seq": numbers, "state": state})
    else:
        verb = "is" if len(numbers) == 1 else "are"
        note(f"cw: {numbered(len(numbers), 'message')} of {shown(id)} {verb} {state}")
    return 0


# --- conversations -------------------------------------------------------------------------------


def rename(
    conversation: Conversation,
    where: StoreOptions,
    new_id: Annotated[
        str | None, Argument("[NEW_ID]", help="New id. Default: the id stays.")
    ] = None,
    title: Annotated[
        str | None, Option("--title", metavar="TEXT", help='New title; "" removes it.')
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Rename a conversation, or set its title.

    Its messages, forks and memories stay with it.

    \b
    cw rename lunch team-lunch
    cw rename lunch --title "Where we eat on Friday"
    """
    if new_id is None and title is None:
        raise UsageError("nothing to change", hint="name a new id, or --title TEXT")
    with existing(where, embedder=None) as store:
        require_conversation(store, conversation)
        if new_id is not None:
            store.rename(conversation, new_id)
        if title is not None:
            store.conversation(new_id or conversation).update(title=title or None)
        info = store.conversation(new_id or conversation).details()
    if as_json:
        say_json(info)
    else:
        named = f", titled {shown(info.title)}" if info.title else ""
        note(f"cw: the conversation is {shown(info.id)}{named}")
    return 0


def remove(
    conversations: Annotated[
        list[str],
        Argument(
            "CONVERSATION...",
            help="Ids of stored conversations.",
            complete=completion.conversations,
        ),
    ],
    where: StoreOptions,
    as_json: AsJson = False,
) -> int:
    """Remove conversations for good.

    Their messages and memories are removed too. Exits with 1 and removes nothing if one of the ids
    does not exist. A conversation with forks can be removed after its forks.

    \b
    cw rm lunch
    """
    with existing(where, embedder=None) as store:
        for id in conversations:
            require_conversation(store, id)
        counts = {id: store.conversation(id).length() for id in conversations}
        for id in counts:
            store.forget(id)
    if as_json:
        say_json([{"conversation": id, "messages": count} for id, count in counts.items()])
    else:
        for id, count in counts.items():
            note(f"cw: removed {shown(id)} with {numbered(count, 'message')}")
    return 0
