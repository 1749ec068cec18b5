"""`cw recall` and `cw search`: what was said before."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from contextwright.cli.build import read_now
from contextwright.cli.input import text_given
from contextwright.cli.output import note, progress, say, say_json, table
from contextwright.cli.store import existing, place_of
from contextwright.cli.streams import as_fields
from contextwright.errors import EmbedderError, UsageError
from contextwright.quoting import one_line
from contextwright.recall.embedding import Given
from contextwright.recall.packing import Recall, RecallItem
from contextwright.store.records import Hit, Stored

__all__ = ["recall", "search"]

WIDEST = 100
"""Characters of a message on a line."""
WIDEST_NAME = 20
FAINT = 0.05
"""Log-odds below which a reason is not worth the place."""


# --- recall --------------------------------------------------------------------------------------


def recall(
    query: str,
    place: str | None,
    tenant: str,
    *,
    conversation: str | None,
    now: str | None,
    explain: bool,
    embedder: Given,
    as_json: bool,
    **wish: Any,
) -> int:
    """Print what a question needs: lines to read, a table of reasons, or JSON."""
    if explain and as_json:
        raise UsageError("--json has the reasons too", hint="leave out --explain")
    query = text_given(query)
    wish["now"] = read_now(now) if now else datetime.now(UTC).astimezone()
    with existing(place, tenant=tenant, embedder=embedder) as store:
        with progress(f"indexing {place_of(place)}") as moved, suppress(EmbedderError):
            store.index(conversation, progress=moved)  # recall itself says that it fails
        asked = store if conversation is None else store.conversation(conversation)
        found = asked.recall(query, **wish)
        name = store.space.embedder.name if store.space and found.has_meaning else None
    if as_json:
        say_json(recall_fields(found, name))
    elif found.items:
        say(explained(found, name) if explain else found.text)
    if found.trouble:
        note(f"cw: by words alone: {found.trouble}")
    if not found.items:
        note("cw: nothing recalled")
    return 0 if found.items else 1


def recall_fields(found: Recall, embedder: str | None) -> dict[str, Any]:
    """What was recalled, for programs."""
    return {
        "query": found.query,
        "budget": found.budget,
        "tokens": found.tokens,
        "embedder": embedder,
        "items": [item_fields(item) for item in found],
    }


def item_fields(item: RecallItem) -> dict[str, Any]:
    """A message or a memory, for programs; its parts add up to the log-odds of its score."""
    return {
        "conversation": item.conversation,
        "seq": item.seq,
        "score": round(item.score, 4),
        "parts": {part.name: round(part.adds, 4) for part in item.parts},
        "tokens": item.tokens,
        "reason": item.reason,
        "message": item.message,
        "memory": item.memory,
    }


def explained(found: Recall, embedder: str | None) -> str:
    """A table of what was recalled and why, the likeliest first, and how to read it."""
    heading = ("score", "message", "tokens", "speaker", "day", "because")
    likeliest = sorted(found, key=lambda item: -item.score)
    used = f"{len(found):,} recalled, {found.tokens:,} of {found.budget:,} tokens"
    ways = f"words and meaning ({embedder})" if embedder else "words alone"
    return (
        f"{table([heading, *map(item_row, likeliest)])}\n\n{used}, by {ways}\n"
        "The score is a probability; the reasons add up to its log-odds."
    )


def item_row(item: RecallItem) -> tuple[str, ...]:
    """A message in a row."""
    reasons = [f"{name} {adds:+.1f}" for name, adds in item.reasons if abs(adds) >= FAINT]
    time = item.message.time
    speaker = item.speaker if item.memory is None else (item.memory.author or "-")
    return (
        f"{item.score:.2f}",
        f"{one_line(item.conversation)} {item.seq}" if item.memory is None else "memory",
        f"{item.tokens:,}",
        one_line(speaker, WIDEST_NAME),
        f"{time:%Y-%m-%d}" if time else "-",
        ", ".join(reasons),
    )


# --- search --------------------------------------------------------------------------------------


def search(
    query: str,
    place: str | None,
    tenant: str,
    *,
    conversation: str | None,
    most: int,
    as_json: bool,
) -> int:
    """Print the messages that fit."""
    query = text_given(query)
    with existing(place, tenant=tenant, embedder=None) as store:
        with progress(f"indexing {place_of(place)}") as moved:
            store.index_words(conversation, progress=moved)
        hits = store.search(query, conversation, most)
    if as_json:
        say_json([hit_fields(hit) for hit in hits])
    else:
        for hit in hits:
            say(hit_line(hit))
    if not hits:
        note("cw: nothing found")
    return 0 if hits else 1


def hit_fields(hit: Hit) -> dict[str, Any]:
    """A hit for programs: the fields of `cw dump`, with where it is and how well it fits."""
    fields = as_fields(Stored(hit.seq, None, hit.message))
    del fields["key"]
    return {"conversation": hit.conversation, "score": round(hit.score, 4), **fields}


def hit_line(hit: Hit) -> str:
    """A hit on one line: score, conversation and number, who spoke, what was said."""
    message = hit.message
    speaker = message.author.label if message.author else message.role
    said = message.text or "\n".join(result.text for result in message.results)
    where = f"{one_line(hit.conversation)} {hit.seq}"
    return f"{hit.score:.2f}  {where}  {one_line(speaker)}: {one_line(said, WIDEST)}"
