"""Better text for an episode, written by a model and validated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.errors import shown
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.recall.episodes.episode import LONGEST_TOPIC, Episode, Valence
from contextwright.text.graphemes import cut
from contextwright.text.json import convert

__all__ = ["EpisodeDetails", "EpisodeWriter", "refine", "unrefined"]

LONGEST_SUMMARY = 1_800
LONGEST_TAG = 40
MOST_TAGS = 12


class EpisodeDetails(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Better text for an episode; fields that are left out stay."""

    topic: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None
    valence: Valence | None = None
    importance: float | None = None


EpisodeWriter: TypeAlias = Callable[
    [Episode, Sequence[Message]], EpisodeDetails | Mapping[str, Any]
]
"""Asks a model: takes an episode with its messages, returns better text."""


def refine(
    episode: Episode, messages: Sequence[Message], writer: EpisodeWriter
) -> tuple[Episode, Change | None]:
    """Return the episode with better text; unchanged, with the reason, if there is none."""
    try:
        answer = writer(episode, messages)
        return applied(episode, convert(msgspec.to_builtins(answer), EpisodeDetails)), None
    except Exception as error:  # a client may raise anything, and its answer may be anything
        return episode, unrefined(episode, error)


def unrefined(episode: Episode, error: Exception) -> Change:
    """Return the change for an episode without better text."""
    first = str(error).strip().partition("\n")[0]
    reason = f"{type(error).__name__}: {shown(first)}" if first else type(error).__name__
    place = f"messages {episode.first} to {episode.last}"
    return Change("loss.refinement", place, f"the digest stays: {reason}")


def applied(episode: Episode, refined: EpisodeDetails) -> Episode:
    """Return an episode with the given text.

    Raises:
        ValueError: a text is blank, or a number is not from 0 to 1.
    """
    given = {
        name: value for name, value in msgspec.structs.asdict(refined).items() if value is not None
    }
    if not given:
        raise ValueError("the answer is empty")
    for name, longest in (("topic", LONGEST_TOPIC), ("summary", LONGEST_SUMMARY)):
        if name in given:
            given[name] = in_line(given[name], longest)
    if "tags" in given:
        given["tags"] = tuple(in_line(tag, LONGEST_TAG) for tag in given["tags"][:MOST_TAGS])
    if not 0 <= given.get("importance", 0) <= 1:  # also refuses NaN
        raise ValueError("an importance is a number from 0 to 1")
    is_digest = episode.digest and "summary" not in given
    return msgspec.structs.replace(episode, **given, digest=is_digest)


def in_line(text: str, longest: int) -> str:
    """Return text on one line, truncated."""
    line = cut(" ".join(text[: 8 * longest].split()), longest)
    if not line:
        raise ValueError("blank text")
    return line
