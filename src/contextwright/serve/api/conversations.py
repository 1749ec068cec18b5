"""Conversations: the list, one of them, its title, its removal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from contextwright.errors import UsageError, shown
from contextwright.messages.message import Author, Message
from contextwright.messages.speech import spoken_text
from contextwright.messages.times import read_time
from contextwright.serve.api.previews import opening, part_preview
from contextwright.serve.http.fields import ConversationId, Limit, Words
from contextwright.store.frames import with_time
from contextwright.store.records import ConversationInfo
from contextwright.store.rows import conversations as rows
from contextwright.store.store import Store

__all__ = [
    "Activity",
    "forget_conversation",
    "get_conversation",
    "list_conversations",
    "update_conversation",
]

LOOKED_AT = 32
"""Messages at each end of a conversation in which people and opening words are looked for."""
OPENING_CHARS = 120
FEW = 50
"""Conversations whose last messages are read one by one."""
MAX_HITS = 100
MAX_FORKS = 200
BYTES_PER_TOKEN = 4
MAX_REQUESTS = 200
EPOCH = datetime.fromtimestamp(0, UTC)


class Hit(Struct, frozen=True):
    """A message that a search found."""

    seq: int
    score: float
    text: str


class Spending(Struct, frozen=True):
    """The cost of a conversation's last 200 recorded requests, as their providers count."""

    requests: int
    input: int
    cached: int
    output: int
    price: float | None


class ConversationSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation in a list."""

    id: str
    title: str | None
    opening: str
    agent: str | None
    messages: int
    tokens: int
    """About how many tokens its messages have, at four bytes each."""
    people: list[Author]
    active: str
    created: str
    parent: str | None = None
    fork_at: int | None = None
    recorded: Spending | None = None
    hits: list[Hit] = []


class Fork(Struct, frozen=True):
    """A conversation that goes on from this one after message `at`."""

    id: str
    title: str | None
    at: int
    messages: int
    """Messages of its own."""


class ConversationDetail(ConversationSummary, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation with its settings and forks."""

    settings: dict[str, Any]
    forks: list[Fork] = []


class ConversationPage(Struct, frozen=True):
    """Conversations, the last active first; those found by a search, the best first."""

    conversations: list[ConversationSummary]
    total: int
    next: str | None = None


class ConversationsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversations to list."""

    cursor: Annotated[str, Meta(max_length=1_024, description="`next` of the page before.")] = ""
    limit: Limit = 50
    q: Words | None = None
    by: Annotated[Literal["words", "meaning"], Meta(description="How `q` is looked for.")] = "words"


class ConversationQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversation."""

    conversation: ConversationId


class ConversationChanges(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a conversation; fields left out stay."""

    title: str | None | UnsetType = UNSET
    agent: str | None | UnsetType = UNSET


class Activity:
    """When each conversation was last active; read again only if something was added."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str, int], str] = {}

    def sorted(self, store: Store) -> list[tuple[str, ConversationInfo]]:
        """Return all conversations with that time, the last active first."""
        keys = {(info.id, info.created, info.length): info for info in store.list()}
        fresh = keys.keys() - self.known.keys()
        times = last_times(store) if len(fresh) > FEW else {}
        self.known = {
            key: active_at(store, info, times.get(info.id)) if key in fresh else self.known[key]
            for key, info in keys.items()
        }
        listed = [(self.known[key], info) for key, info in keys.items()]
        return sorted(listed, key=lambda row: (row[0], row[1].id), reverse=True)


def last_times(store: Store) -> dict[str, str | None]:
    """Return the time of the last message of every conversation."""
    found: dict[str, str | None] = {}
    number = 0
    while page := store.engine.read(
        lambda connection, after=number: rows.last_times(connection, store.tenant, after)
    ):
        found |= {id: time for _, id, time in page}
        number = page[-1][0]
    return found


def list_conversations(
    store: Store, query: ConversationsQuery, activity: Activity
) -> ConversationPage:
    """List conversations, or search them.

    The last active comes first. With `q` come those with messages that hold its words, or that
    are near its meaning, the best first, each with its `hits`.
    """
    if query.q is not None:
        return found_conversations(store, query.q, query)
    listed = activity.sorted(store)
    total = len(listed)
    if query.cursor:
        active, slash, id = query.cursor.partition("/")
        if not slash:
            raise UsageError(f"{shown(query.cursor)} is not a cursor", hint="pass `next` as it is")
        listed = [row for row in listed if (row[0], row[1].id) < (active, id)]
    page = listed[: query.limit]
    more = len(listed) > query.limit
    following = f"{page[-1][0]}/{page[-1][1].id}" if more else None
    summaries = [summary_of(store, info, active) for active, info in page]
    return ConversationPage(summaries, total, following)


def get_conversation(store: Store, query: ConversationQuery) -> ConversationDetail:
    """Return a conversation: its title, people, times, settings and forks."""
    info = store.conversation(query.conversation).details()
    summary = summary_of(store, info, active_at(store, info))
    forks = store.engine.read(
        lambda connection: rows.forks_of(connection, store.tenant, info.id, MAX_FORKS)
    )
    return ConversationDetail(
        **msgspec.structs.asdict(summary),
        settings=info.settings,
        forks=[Fork(id, title, at, last - at) for id, title, at, last in forks],
    )


def update_conversation(
    store: Store, query: ConversationQuery, body: ConversationChanges
) -> ConversationDetail:
    """Set the title or the agent of a conversation."""
    chat = store.conversation(query.conversation)
    chat.details()  # a conversation that is not there is not made
    chat.update(title=body.title, agent=body.agent)
    return get_conversation(store, query)


def forget_conversation(store: Store, query: ConversationQuery) -> None:
    """Remove a conversation permanently, with the memories of its scope."""
    store.conversation(query.conversation).details()
    store.forget(query.conversation)


# --- parts of the list ---------------------------------------------------------------------------


def active_at(store: Store, info: ConversationInfo, known: str | None = None) -> str:
    """Return the time of the last message, or of the creation if the message has none."""
    time = read_time(known) if known else None
    if time is None:
        last = store.conversation(info.id).tail(1)
        time = with_time(last[0]).time if last else None
    return (time or read_time(info.created) or EPOCH).astimezone(UTC).isoformat()


def summary_of(
    store: Store, info: ConversationInfo, active: str, hits: Iterable[Hit] = ()
) -> ConversationSummary:
    """Return a conversation in a list."""
    chat = store.conversation(info.id)
    first = [stored.message for stored in chat.read(1, LOOKED_AT + 1)]
    last = [stored.message for stored in chat.tail(LOOKED_AT)]
    size = store.engine.read(lambda connection: rows.size_of(connection, store.tenant, info.id))
    return ConversationSummary(
        id=info.id,
        title=info.title,
        opening=opening(first_words(first), OPENING_CHARS),
        agent=info.agent,
        messages=info.length,
        tokens=size // BYTES_PER_TOKEN,
        people=people_in([*first, *last]),
        active=active,
        created=info.created,
        parent=info.parent,
        fork_at=info.fork_at,
        recorded=spending_of(store, info.id),
        hits=list(hits),
    )


def spending_of(store: Store, id: str) -> Spending | None:
    """Return what the last recorded requests of a conversation cost; None if there are none."""
    found = store.requests(id, limit=MAX_REQUESTS)
    usages = [one.usage for one in found if one.usage is not None]
    prices = [one.price for one in found if one.price is not None]
    if not found:
        return None
    return Spending(
        len(found),
        sum(usage.input for usage in usages),
        sum(usage.cached for usage in usages),
        sum(usage.output for usage in usages),
        sum(prices) if prices else None,
    )


def words_of(message: Message) -> str:
    """Return what somebody said, else what was called or found."""
    parts = (part_preview(part, OPENING_CHARS).text for part in message.parts)
    return spoken_text(message) or " ".join(parts)


def first_words(messages: Iterable[Message]) -> str:
    """Return the words of the first question."""
    spoken = (spoken_text(one) for one in messages if one.role == "user")
    return next((text for text in spoken if text.strip()), "")


def people_in(messages: Iterable[Message]) -> list[Author]:
    """Return the authors of messages, each once."""
    return list({one.author: None for one in messages if one.author is not None})


def found_conversations(store: Store, words: str, query: ConversationsQuery) -> ConversationPage:
    """Return the conversations with the best hits of a search, each with its hits."""
    hits: dict[str, list[Hit]] = {}
    for conversation, seq, message, score in search_hits(store, words, query.by):
        hit = Hit(seq, round(score, 4), opening(words_of(message), OPENING_CHARS))
        hits.setdefault(conversation, []).append(hit)
    found: list[ConversationSummary] = []
    for id in list(hits)[: query.limit]:
        info = store.conversation(id).details()
        found.append(summary_of(store, info, active_at(store, info), hits[id]))
    return ConversationPage(found, len(hits))


def search_hits(
    store: Store, words: str, by: Literal["words", "meaning"]
) -> list[tuple[str, int, Message, float]]:
    """Return the best messages of a search, the best first."""
    if by == "words":
        found = store.search(words, limit=MAX_HITS)
        return [(one.conversation, one.seq, one.message, one.score) for one in found]
    recalled = sorted(store.recall(words, limit=MAX_HITS), key=lambda one: -one.score)
    return [(one.conversation, one.seq, one.message, one.score) for one in recalled if one.seq]
