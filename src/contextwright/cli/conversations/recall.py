"""`cw recall` and `cw search`: earlier messages, by meaning and by words."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

from contextwright.cli import completion
from contextwright.cli.arguments import read_time_option, read_words
from contextwright.cli.conversations.streams import as_fields
from contextwright.cli.options import (
    Argument,
    AsJson,
    EmbedderName,
    ModelName,
    Option,
    StoreOptions,
)
from contextwright.cli.output import list_changes, note, progress, say, say_json, table
from contextwright.cli.stores import existing, require_conversation
from contextwright.errors import EmbedderError, UsageError
from contextwright.messages.speech import spoken_text
from contextwright.recall.memories import MIN_CONFIDENCE
from contextwright.recall.packing import RecallHit, RecallResult
from contextwright.sections import PastMessages
from contextwright.store.records import SearchHit, StoredMessage
from contextwright.text.quoting import one_line

__all__ = ["recall", "search"]

MAX_TEXT_CHARS, MAX_NAME_CHARS = 100, 20
MIN_LOG_ODDS = 0.05
"""Reasons that add less are not listed."""

Query = Annotated[str, Argument("QUERY", help="Question or words; - for standard input.")]
Where = Annotated[
    str | None,
    Option(
        "--conversation",
        "-c",
        metavar="ID",
        help="Look in this conversation. Default: in all.",
        complete=completion.conversations,
    ),
]
About = Annotated[
    str | None,
    Option("--about", metavar="PERSON", help="Messages of this person only: an id or a name."),
]
Budget = Annotated[
    int, Option("--budget", "-b", min=1, metavar="N", help="Token budget of all lines.")
]
Confidence = Annotated[
    float,
    Option(
        "--min-confidence",
        min=0.0,
        max=1.0,
        metavar="P",
        help="Minimum confidence that there is an answer, 0 to 1.",
    ),
]
QuestionTime = Annotated[
    str | None,
    Option(
        "--now",
        metavar="TIME",
        help="Time of the question (ISO 8601), for words like “last week”. Default: now.",
    ),
]


# --- recall --------------------------------------------------------------------------------------


def recall(
    query: Query,
    where: StoreOptions,
    conversation: Where = None,
    about: About = None,
    budget: Budget = 2_000,
    limit: Annotated[
        int | None,
        Option("--limit", "-n", min=1, metavar="N", help="At most N messages. Default: no limit."),
    ] = None,
    min_score: Annotated[
        float, Option("--min-score", min=0.0, max=1.0, metavar="P", help="Minimum score, 0 to 1.")
    ] = PastMessages().least,
    min_confidence: Confidence = MIN_CONFIDENCE,
    model: ModelName = None,
    now: QuestionTime = None,
    explain: Annotated[
        bool, Option("--explain", help="Print a table of scores and reasons instead.")
    ] = False,
    embedder: EmbedderName = "auto",
    as_json: AsJson = False,
) -> int:
    """Recall the messages that a question needs.

    Finds messages by their words, by their meaning if an embedder is installed, by speaker and by
    date, and prints those that fit the token budget in their order, each with its day and its
    speaker. --model counts tokens as that model does. Exits with 1 if nothing is recalled.

    \b
    cw recall "What did Alice say about the train last week?"
    cw recall "allergies" --conversation lunch --about alice --budget 500
    cw recall "Where do we meet?" --limit 10 --explain
    """
    if explain and as_json:
        raise UsageError("--json has the reasons too", hint="leave out --explain")
    query = read_words(query, "the question")
    moment = read_time_option(now) if now else datetime.now(UTC).astimezone()
    with existing(where, embedder=None if embedder == "none" else embedder) as store:
        if conversation is not None:
            require_conversation(store, conversation)
        with progress(f"indexing {store.engine.where}") as moved, suppress(EmbedderError):
            store.index(conversation, progress=moved)  # recall itself reports the error
        asked = store if conversation is None else store.conversation(conversation)
        found = asked.recall(
            query,
            about=about,
            budget=budget,
            limit=limit,
            min_score=min_score,
            min_confidence=min_confidence,
            model=model,
            now=moment,
        )
        name = store.embedder.name if store.embedder and found.has_meaning else None
    if as_json:
        say_json(recall_fields(found, name))
    elif found.items:
        say(explained(found, name) if explain else found.text)
    return report(found, min_score, min_confidence)


def report(found: RecallResult, min_score: float, min_confidence: float) -> int:
    """Note what is missing from a result; return the exit code."""
    if found.trouble:
        note(f"cw: ranked by words only: {found.trouble}")
    list_changes(found.changes)
    if not found.items:
        note(f"cw: {absence(found, min_score, min_confidence)}")
    return 0 if found.items else 1


def absence(found: RecallResult, min_score: float, min_confidence: float) -> str:
    """Return why nothing was recalled."""
    if 0 < found.confidence < min_confidence:
        sure = f"{found.confidence:.0%} sure; --min-confidence 0"
        return f"nothing found that answers it ({sure})"
    if found.confidence and not min_score and not found.changes:
        return f"nothing found that fits --budget {found.budget}"
    return "nothing recalled"


def recall_fields(found: RecallResult, embedder: str | None) -> dict[str, Any]:
    """Return the result for programs."""
    return {
        "query": found.query,
        "budget": found.budget,
        "tokens": found.tokens,
        "confidence": round(found.confidence, 4),
        "embedder": embedder,
        "items": [item_fields(item) for item in found],
    }


def item_fields(item: RecallHit) -> dict[str, Any]:
    """Return a hit for programs; its parts add up to the log-odds of its score."""
    return {
        "conversation": item.conversation,
        "seq": item.seq,
        "score": round(item.score, 4),
        "parts": {part.name: round(part.adds, 4) for part in item.parts},
        "tokens": item.tokens,
        "reason": item.reason,
        "excerpt": excerpt_fields(item),
        "message": item.message,
        "memory": item.memory,
    }


def excerpt_fields(item: RecallHit) -> dict[str, Any] | None:
    """Return which parts of a long message are recalled; None for all of it."""
    if item.excerpt is None:
        return None
    return {
        "parts": item.excerpt.numbers,
        "of": len(item.excerpt.passages),
        "spans": item.excerpt.spans,
    }


def explained(found: RecallResult, embedder: str | None) -> str:
    """Return a table of the hits with their reasons, the most likely first."""
    heading = ("score", "message", "tokens", "speaker", "day", "because")
    likeliest = sorted(found, key=lambda item: -item.score)
    used = f"{len(found):,} recalled, {found.tokens:,} of {found.budget:,} tokens"
    ways = f"words and meaning ({embedder})" if embedder else "words only"
    return (
        f"{table([heading, *map(item_row, likeliest)])}\n\n{used}, by {ways}\n"
        "The score is a probability; the reasons add up to its log-odds."
    )


def message_cell(item: RecallHit) -> str:
    """Return the conversation and number of a hit, and its part of the message."""
    if item.memory is not None:
        return "memory"
    place = f", {item.excerpt.place}" if item.excerpt else ""
    return f"{one_line(item.conversation)} {item.seq}{place}"


def item_row(item: RecallHit) -> tuple[str, ...]:
    """Return a hit as a row."""
    reasons = [f"{name} {adds:+.1f}" for name, adds in item.reasons if abs(adds) >= MIN_LOG_ODDS]
    time = item.message.time
    speaker = item.speaker if item.memory is None else (item.memory.author or "-")
    return (
        f"{item.score:.2f}",
        message_cell(item),
        f"{item.tokens:,}",
        one_line(speaker, MAX_NAME_CHARS),
        f"{time:%Y-%m-%d}" if time else "-",
        ", ".join(reasons),
    )


# --- search --------------------------------------------------------------------------------------


def search(
    query: Query,
    where: StoreOptions,
    conversation: Where = None,
    limit: Annotated[
        int, Option("--limit", "-n", min=1, metavar="N", help="At most N messages.")
    ] = 20,
    as_json: AsJson = False,
) -> int:
    """Find messages by their words.

    Prints the best first. The score is the share of the query's words in the message, where rare
    words count more. Exits with 1 if nothing is found.

    \b
    cw search "risotto"
    cw search "coffee" --conversation lunch --limit 5
    """
    query = read_words(query, "the question")
    with existing(where, embedder=None) as store:
        if conversation is not None:
            require_conversation(store, conversation)
        with progress(f"indexing {store.engine.where}") as moved:
            store.index(conversation, words_only=True, progress=moved)
        hits = store.search(query, conversation, limit)
    if as_json:
        say_json([hit_fields(hit) for hit in hits])
    else:
        for hit in hits:
            say(hit_line(hit))
    list_changes(hits.changes)
    if not hits:
        note("cw: nothing found")
    return 0 if hits else 1


def hit_fields(hit: SearchHit) -> dict[str, Any]:
    """Return a hit for programs: the fields of `cw dump`, with conversation and score."""
    fields = as_fields(StoredMessage(hit.seq, None, hit.message))
    del fields["key"]
    return {"conversation": hit.conversation, "score": round(hit.score, 4), **fields}


def hit_line(hit: SearchHit) -> str:
    """Return a hit on one line: score, conversation and number, speaker, text."""
    message = hit.message
    speaker = message.author.label if message.author else message.role
    text = spoken_text(message) or "\n".join(result.text for result in message.results)
    where = f"{one_line(hit.conversation)} {hit.seq}"
    return f"{hit.score:.2f}  {where}  {one_line(speaker)}: {one_line(text, MAX_TEXT_CHARS)}"
