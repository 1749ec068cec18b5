"""`cw remember`, `cw memories`, `cw forget-memory` and `cw episodes`."""

from __future__ import annotations

from typing import Annotated, Literal

from contextwright.cli.arguments import read_words
from contextwright.cli.options import Argument, AsJson, Conversation, Option, StoreOptions
from contextwright.cli.output import note, numbered, say, say_json, table
from contextwright.cli.stores import existing, existing_chat, near_names, opened
from contextwright.errors import NotFound, shown
from contextwright.messages.times import read_time
from contextwright.recall.episodes.episode import Episode
from contextwright.store.records import StoredMemory
from contextwright.text.quoting import one_line

__all__ = ["episodes", "forget_memory", "memories", "remember"]

MAX_TEXT_CHARS = 100
MAX_NAMES, MAX_NAME_CHARS = 4, 20

Kind = Literal["memory", "profile", "fact", "episode"]
Scope = Annotated[
    str | None,
    Option("--scope", metavar="CONVERSATION", help="Limit it to one conversation. Default: all."),
]


def remember(
    about: Annotated[str, Argument("ABOUT", help="Id of the person the memory is about.")],
    text: Annotated[str, Argument("TEXT", help="Text of the memory, or - for standard input.")],
    where: StoreOptions,
    kind: Annotated[
        Kind, Option("--kind", help="Note, profile summary, labelled fact, or episode.")
    ] = "memory",
    label: Annotated[
        str, Option("--label", metavar="LABEL", help="Label of a fact, or topic of an episode.")
    ] = "",
    scope: Scope = None,
    author: Annotated[
        str | None, Option("--author", metavar="ID", help="Id of the person who said it.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Store a memory and print its id.

    \b
    cw remember alice "Likes coffee"
    cw remember alice Kyiv --kind fact --label location
    """
    with opened(where) as store:
        id = store.remember(
            read_words(text, "the memory"),
            about=about,
            kind=kind,
            key=label,
            scope=scope or "",
            author=author,
        )
    if as_json:
        say_json({"id": id})
    else:
        say(id)
    return 0


def memories(
    where: StoreOptions,
    about: Annotated[
        str | None, Argument("[ABOUT]", help="Id of a person. Default: everybody.")
    ] = None,
    kind: Annotated[
        Kind | None, Option("--kind", help="List memories of this kind. Default: all.")
    ] = None,
    scope: Scope = None,
    as_json: AsJson = False,
) -> int:
    """List memories, oldest first.

    \b
    cw memories alice
    cw memories --kind fact --json
    """
    with existing(where) as store:
        found = list(store.memories(about=about, kind=kind, scope=scope))
        if as_json:
            say_json([{"id": stored.id, "memory": stored.memory} for stored in found])
            return 0
        for stored in found:
            say(memory_line(stored))
    if not found:
        note("cw: no memories")
    return 0


def memory_line(stored: StoredMemory) -> str:
    """Return a memory on one line: id, kind, person, scope, text."""
    memory = stored.memory
    scope = f" in {one_line(memory.scope)}" if memory.scope else ""
    label = f"{one_line(memory.key)}: " if memory.key else ""
    text = f"{label}{one_line(memory.text, MAX_TEXT_CHARS)}"
    return f"{stored.id}  {memory.kind:<7}  {one_line(memory.about or '-')}{scope}  {text}"


def forget_memory(
    ids: Annotated[list[str], Argument("ID...", help="Ids of memories (see cw memories).")],
    where: StoreOptions,
    as_json: AsJson = False,
) -> int:
    """Remove a memory for good.

    Exits with 1 and removes nothing if one of the ids does not exist.

    \b
    cw forget-memory 6f1c0d2e
    """
    with existing(where) as store:
        known = {stored.id for stored in store.memories()}
        for id in ids:
            if id not in known:
                raise NotFound(f"there is no memory {shown(id)}", hint=near_names(id, known))
        for id in ids:
            store.forget_memory(id)
    if as_json:
        say_json({"removed": ids})
    else:
        removed = "1 memory" if len(ids) == 1 else f"{len(ids):,} memories"
        note(f"cw: removed {removed}")
    return 0


# --- episodes ------------------------------------------------------------------------------------


def episodes(
    conversation: Conversation,
    where: StoreOptions,
    make: Annotated[
        bool, Option("--make", help="Create missing episodes first (no model needed).")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """List the episodes of a conversation.

    Each line has the time, the messages, the people, the weight (0 to 1) and the topic. Episodes
    that contain a hidden message are not listed; --make rebuilds them.

    \b
    cw episodes lunch --make
    """
    with existing_chat(where, conversation) as chat:
        if make:
            made = chat.make_episodes()
            removed = f", {made.removed:,} removed" if made.removed else ""
            note(f"cw: {numbered(len(made.episodes), 'episode')} created{removed}")
        found = chat.episodes()
    if as_json:
        say_json(found)
    elif found:
        heading = ("time", "messages", "people", "weight", "topic")
        say(table([heading, *(episode_row(stored) for stored in found)]))
    elif not make:
        note("cw: no episodes yet (--make creates them)")
    return 0


def episode_row(stored: StoredMemory) -> tuple[str, ...]:
    """Return an episode as a row; one that was stored by hand has no messages."""
    memory, episode = stored.memory, Episode.of(stored.memory)
    began = episode.began if episode else memory.at
    time = read_time(began) if began else None
    names = [one_line(name, MAX_NAME_CHARS) for name in episode.names] if episode else []
    more = f" +{len(names) - MAX_NAMES}" if len(names) > MAX_NAMES else ""
    return (
        f"{time:%Y-%m-%d %H:%M}" if time else "-",
        f"{episode.first}-{episode.last}" if episode else "-",
        (", ".join(names[:MAX_NAMES]) + more) or "-",
        f"{memory.weight:.2f}",
        one_line(memory.key or memory.text, MAX_TEXT_CHARS),
    )
