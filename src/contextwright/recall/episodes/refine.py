"""Replace the text of an episode by one that a model writes, after validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.errors import shown
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.recall.episodes.episode import MAX_TOPIC_CHARS, Episode, Valence
from contextwright.text.graphemes import cut
from contextwright.text.json import convert

__all__ = ["EpisodeDetails", "EpisodeWriter", "refine", "refinement_failure"]

MAX_SUMMARY_CHARS = 1_800
MAX_TAG_CHARS = 40
MAX_TAGS = 12


class EpisodeDetails(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """New text for an episode; fields that are None stay as they are."""

    topic: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None
    valence: Valence | None = None
    importance: float | None = None


EpisodeWriter: TypeAlias = Callable[
    [Episode, Sequence[Message]], EpisodeDetails | Mapping[str, Any]
]
"""A function that asks a model: takes an episode and its messages, returns new text."""


def refine(
    episode: Episode, messages: Sequence[Message], writer: EpisodeWriter
) -> tuple[Episode, Change | None]:
    """Return the episode with the writer's text; or unchanged, with the reason, if it fails."""
    try:
        answer = writer(episode, messages)
        return with_details(episode, convert(msgspec.to_builtins(answer), EpisodeDetails)), None
    except Exception as error:  # a client may raise anything, and its answer may be anything
        return episode, refinement_failure(episode, error)


def refinement_failure(episode: Episode, error: Exception) -> Change:
    """Return the change that reports why an episode keeps its excerpts."""
    first = str(error).strip().partition("\n")[0]
    reason = f"{type(error).__name__}: {shown(first)}" if first else type(error).__name__
    place = f"messages {episode.first} to {episode.last}"
    return Change("loss.refinement", place, f"the digest stays: {reason}")


def with_details(episode: Episode, refined: EpisodeDetails) -> Episode:
    """Return the episode with the given details.

    Raises:
        ValueError: a text is blank, or a number is not from 0 to 1.
    """
    given = {
        name: value for name, value in msgspec.structs.asdict(refined).items() if value is not None
    }
    if not given:
        raise ValueError("the answer is empty")
    for name, longest in (("topic", MAX_TOPIC_CHARS), ("summary", MAX_SUMMARY_CHARS)):
        if name in given:
            given[name] = truncated_line(given[name], longest)
    if "tags" in given:
        given["tags"] = tuple(
            truncated_line(tag, MAX_TAG_CHARS) for tag in given["tags"][:MAX_TAGS]
        )
    if not 0 <= given.get("importance", 0) <= 1:  # also refuses NaN
        raise ValueError("an importance is a number from 0 to 1")
    is_digest = episode.digest and "summary" not in given
    return msgspec.structs.replace(episode, **given, digest=is_digest)


def truncated_line(text: str, longest: int) -> str:
    """Return text on one line, truncated.

    Raises:
        ValueError: it is blank.
    """
    line = cut(" ".join(text[: 8 * longest].split()), longest)
    if not line:
        raise ValueError("blank text")
    return line
