"""`cw remember`, `cw memories` and `cw episodes`."""

from __future__ import annotations

from contextwright.cli.output import note, numbered, say, say_json, table
from contextwright.cli.store import existing, opened
from contextwright.documents import standard_input
from contextwright.errors import UsageError
from contextwright.memories import MemoryKind
from contextwright.messages import read_time
from contextwright.quoting import one_line
from contextwright.recall.episodes import Episode
from contextwright.store.records import StoredMemory

__all__ = ["episodes", "forget", "memories", "remember"]

WIDEST = 100
"""Characters of a message on a line."""
MOST_NAMES, WIDEST_NAME = 4, 20
"""Names on a line, and the characters of one."""


def remember(
    about: str,
    text: str,
    place: str | None,
    tenant: str,
    *,
    kind: MemoryKind,
    key: str,
    scope: str | None,
    author: str | None,
) -> int:
    """Store a memory and print its id."""
    words = text if text != "-" else read_words()
    with opened(place, tenant=tenant) as store:
        say(
            store.remember(words, about=about, kind=kind, key=key, scope=scope or "", author=author)
        )
    return 0


def read_words() -> str:
    """What standard input says."""
    try:
        return standard_input().read().decode().strip()
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8") from None


def forget(id: str, place: str | None, tenant: str) -> int:
    """Remove a memory."""
    with opened(place, tenant=tenant) as store:
        store.forget_memory(id)
    return 0


def memories(
    about: str | None,
    place: str | None,
    tenant: str,
    *,
    kind: MemoryKind | None,
    scope: str | None,
    as_json: bool,
) -> int:
    """List memories."""
    with opened(place, tenant=tenant) as store:
        found = store.memories(about=about, kind=kind, scope=scope)
        if as_json:
            say_json([{"id": stored.id, "memory": stored.memory} for stored in found])
            return 0
        for stored in found:
            say(memory_line(stored))
    return 0


def memory_line(stored: StoredMemory) -> str:
    """A memory on one line: id, kind, whom it is about, where it is told, what it says."""
    memory = stored.memory
    told = f" in {one_line(memory.scope)}" if memory.scope else ""
    label = f"{one_line(memory.key)}: " if memory.key else ""
    about = one_line(memory.about or "-")
    return f"{stored.id}  {memory.kind:<7}  {about}{told}  {label}{one_line(memory.text, WIDEST)}"


def episodes(id: str, place: str | None, tenant: str, *, make: bool, as_json: bool) -> int:
    """List the events of a conversation."""
    with existing(place, tenant=tenant) as store:
        chat = store.conversation(id)
        if make:
            made = chat.make_episodes()
            gone = f", {made.removed:,} removed" if made.removed else ""
            note(f"cw: {numbered(len(made.episodes), 'episode')} made{gone}")
        found = chat.episodes()
    if as_json:
        say_json(found)
    elif found:
        heading = ("time", "messages", "people", "weight", "topic")
        say(table([heading, *(episode_row(stored) for stored in found)]))
    elif not make:
        note("cw: no episodes yet; --make makes them")
    return 0


def episode_row(stored: StoredMemory) -> tuple[str, ...]:
    """An event in a row; one noted by hand has no messages."""
    memory, episode = stored.memory, Episode.of(stored.memory)
    began = (
        episode.began if episode else memory.at
    )  # `at` of a talk without times is when it was made
    time = read_time(began) if began else None
    names = [one_line(name, WIDEST_NAME) for name in episode.names] if episode else []
    more = f" +{len(names) - MOST_NAMES}" if len(names) > MOST_NAMES else ""
    return (
        f"{time:%Y-%m-%d %H:%M}" if time else "-",
        f"{episode.first}-{episode.last}" if episode else "-",
        (", ".join(names[:MOST_NAMES]) + more) or "-",
        f"{memory.weight:.2f}",
        one_line(memory.key or memory.text, WIDEST),
    )
