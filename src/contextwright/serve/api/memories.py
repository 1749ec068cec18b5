"""Memories: list, add, change, forget."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from contextwright.recall.memories import Memory, MemoryKind
from contextwright.serve.http.fields import MAX_NUMBER, Limit
from contextwright.store.engines.base import Connection, Value
from contextwright.store.records import MemoryChanges, StoredMemory
from contextwright.store.rows import memories as rows
from contextwright.store.rows.validation import require_text
from contextwright.store.store import Store

__all__ = ["add_memory", "forget_memory", "list_memories", "update_memory"]


class MemoriesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which memories to list."""

    about: Annotated[str, Meta(description="Id of the person they are about.")] | None = None
    kind: MemoryKind | None = None
    scope: Annotated[str, Meta(description="Conversation they belong to.")] | None = None
    cursor: Annotated[int, Meta(ge=0, le=MAX_NUMBER, description="`next` of the page before.")] = 0
    limit: Limit = 50


class MemoryPage(Struct, frozen=True):
    """Memories in the order in which they were stored."""

    memories: list[StoredMemory]
    next: int | None


class MemoryBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory to store."""

    text: str
    about: str | None = None
    kind: MemoryKind = "memory"
    key: str = ""
    scope: str = ""
    author: str | None = None
    at: Annotated[str, Meta(description="When it was noted (ISO 8601); by default now.")] | None = (
        None
    )


class MemoryAnswer(Struct, frozen=True):
    """A stored memory."""

    id: str
    memory: Memory


class MemoryQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which memory."""

    memory: Annotated[str, Meta(min_length=1, max_length=256, description="Id of a memory.")]


class MemoryUpdate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a memory; fields left out stay."""

    text: str | UnsetType = UNSET
    key: str | UnsetType = UNSET
    weight: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    at: str | UnsetType = UNSET


def list_memories(store: Store, query: MemoriesQuery) -> MemoryPage:
    """List memories, in the order in which they were stored."""
    asked = {"about": query.about, "kind": query.kind, "scope": query.scope}
    fields: dict[str, Value] = {
        name: require_text(text, name) for name, text in asked.items() if text is not None
    }
    found: list[tuple[int, StoredMemory]] = []
    number = query.cursor
    while len(found) <= query.limit:
        page = store.engine.read(rows.page_after(store.tenant, number, fields))
        if not page:
            break
        found += [(place, stored) for place, stored in page if stored is not None]
        number = page[-1][0]
    kept = found[: query.limit]
    return MemoryPage(
        [stored for _, stored in kept], kept[-1][0] if len(found) > query.limit else None
    )


def add_memory(store: Store, body: MemoryBody) -> MemoryAnswer:
    """Store a memory.

    A fact or memory that says the same of the same person is not stored twice: it gets the newer
    time. With a `scope` it is used in that conversation only.
    """
    id = store.remember(
        body.text,
        about=body.about,
        kind=body.kind,
        key=body.key,
        scope=body.scope,
        author=body.author,
        at=body.at,
    )
    return MemoryAnswer(id, stored_memory(store, id))


def update_memory(store: Store, query: MemoryQuery, body: MemoryUpdate) -> MemoryAnswer:
    """Change a memory: its text, key, weight or time."""
    given = {"text": body.text, "key": body.key, "weight": body.weight, "at": body.at}
    changes: MemoryChanges = {name: value for name, value in given.items() if value is not UNSET}  # pyright: ignore[reportAssignmentType]
    return MemoryAnswer(query.memory, store.update_memory(query.memory, **changes))


def forget_memory(store: Store, query: MemoryQuery) -> None:
    """Remove a memory permanently."""
    stored_memory(store, query.memory)
    store.forget_memory(query.memory)


def stored_memory(store: Store, id: str) -> Memory:
    """Return a memory.

    Raises:
        NotFound: there is none with that id.
    """

    def work(connection: Connection) -> Memory:
        return rows.find(connection, store.tenant, id)

    return store.engine.read(work)
