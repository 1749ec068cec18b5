"""The numbers and lengths that an API takes for its settings, as its reference gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from contextwright.errors import Problem
from contextwright.wire.values import Object, is_list

__all__ = [
    "ANTHROPIC",
    "CHAT",
    "GEMINI",
    "LONGEST_KEYS",
    "OPENAI_KEYS",
    "RESPONSES",
    "Ranges",
    "in_range",
    "key_fault",
    "key_problems",
    "range_problems",
]

Ranges: TypeAlias = Mapping[str, tuple[float, float]]
"""The least and the most of each field; of a list, the number of its entries."""

CHAT: Ranges = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
    "n": (1, 128),
    "top_logprobs": (0, 20),
    "stop": (0, 4),
}
RESPONSES: Ranges = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0), "top_logprobs": (0, 20)}
ANTHROPIC: Ranges = {"temperature": (0.0, 1.0), "top_p": (0.0, 1.0)}
GEMINI: Ranges = {
    "temperature": (0.0, 2.0),
    "topP": (0.0, 1.0),
    "candidateCount": (1, 8),
    "stopSequences": (0, 5),
}


def in_range(value: Any, least: float, most: float) -> Any:
    """Return the nearest value that is accepted; what is no number and no list stays as it is."""
    if is_list(value):
        return value[: int(most)]
    return min(max(value, least), most) if type(value) in (int, float) else value


def range_problems(settings: Object, ranges: Ranges, prefix: str = "") -> Iterator[Problem]:
    """Numbers that are too small or too large, and lists that are too long."""
    for field, (least, most) in ranges.items():
        value = settings.get(field)
        if in_range(value, least, most) != value:
            reason = f"at most {most:g}" if is_list(value) else f"from {least:g} to {most:g}"
            yield Problem("X-range", f"{prefix}{field}", reason)


OPENAI_KEYS = ("user", "safety_identifier", "prompt_cache_key")
LONGEST_KEYS = {**dict.fromkeys(OPENAI_KEYS, 64), "metadata.user_id": 256}
"""The most characters of a field that tells users or caches apart. Agents send longer ones."""
EMAIL = re.compile(r"[^@\s]@[^@\s]+\.[a-zA-Z]{2}").search


def key_fault(field: str, value: Any) -> str | None:
    """Return why such a field is refused, or None. Anthropic refuses addresses of people."""
    if not isinstance(value, str):
        return None
    if len(value) > LONGEST_KEYS[field]:
        return f"at most {LONGEST_KEYS[field]} characters"
    if field == "metadata.user_id" and EMAIL(value):
        return "an email address is refused"
    return None


def key_problems(settings: Object, fields: tuple[str, ...], prefix: str = "") -> Iterator[Problem]:
    """Fields of users and caches that are too long, or tell who the user is."""
    for field in fields:
        if reason := key_fault(prefix + field, settings.get(field)):
            yield Problem("X-key", prefix + field, reason)
