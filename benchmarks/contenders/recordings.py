"""Libraries held against recordings: token counts by the provider's own, runs by their cache."""

# The peers are not installed here.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import caching
import contextwright as cw
from contextwright.models import find
from contextwright.tokens.pieces import pieces
from counting import FORMATS, OPENAI, OWN_HOSTS, content_of

from .windows import MODEL, Talk, tokens

__all__ = ["cached_shares", "count_errors"]

RUNS = 10
"""Recorded runs that make one session, as an agent has it that is never reset."""
SESSIONS = 1
SESSION_TOKENS = 8_000
PRICE_MODEL = "claude-sonnet-5-5"

encode = msgspec.json.Encoder().encode
Count = Callable[[dict[str, Any], str, str], int]


# --- counting --------------------------------------------------------------------------------


def count_errors(library: str, data: Path) -> dict[str, Any]:
    """Per provider: rows, median error, error that nine of ten stay below, counts that are low."""
    if library not in COUNTERS:
        return {}
    count = COUNTERS[library]()
    errors: dict[str, list[float]] = {}
    for format, body, model, actual in recorded(data):
        try:
            counted = count(body, format, model)
        except Exception:  # a library that cannot count is as far off as can be
            counted = 0
        errors.setdefault(find(model).provider, []).append((counted - actual) / actual)
    return {provider: summary(found) for provider, found in sorted(errors.items())}


def summary(errors: Sequence[float]) -> dict[str, float]:
    sizes = sorted(map(abs, errors))
    return {
        "rows": len(errors),
        "median": statistics.median(sizes),
        "p90": sizes[int(0.9 * (len(sizes) - 1))],
        "low": sum(error < -0.05 for error in errors) / len(errors),
    }


def recorded(data: Path) -> Iterator[tuple[str, dict[str, Any], str, int]]:
    """Requests of text and function tools that a provider counted: format, body, model, tokens."""
    for line in (data / "wire" / "requests.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        format = FORMATS.get(record["api"])
        body = record["request"]
        if format is None or record["status"] != 200 or not record.get("input_tokens"):
            continue
        by_hand = format in OPENAI and "stream" not in body
        if record["provider"] not in OWN_HOSTS or by_hand:
            continue
        if content_of(pieces(body, format)) in ("plain", "tools"):
            yield format, body, record["model"], record["input_tokens"]


def as_chat(body: dict[str, Any], format: str, model: str) -> dict[str, Any]:
    """The same as OpenAI chat, which is what other counters take."""
    if format == "openai-chat":
        return body
    return cw.convert(body, format, "openai-chat", model=MODEL).payload


def our_counter() -> Count:
    return lambda body, format, model: cw.count(body, model=model, format=format).tokens


def litellm_counter() -> Count:
    from litellm import token_counter

    def count(body: dict[str, Any], format: str, model: str) -> int:
        chat = as_chat(body, format, model)
        return token_counter(model=model, messages=chat["messages"], tools=chat.get("tools"))

    return count


def langchain_counter() -> Count:
    """`count_tokens_approximately`: the exact counters ask the provider or download."""
    from langchain_core.messages import convert_to_messages
    from langchain_core.messages.utils import count_tokens_approximately

    def count(body: dict[str, Any], format: str, model: str) -> int:
        chat = as_chat(body, format, model)
        messages = convert_to_messages(chat["messages"])
        return count_tokens_approximately(messages, tools=chat.get("tools"))

    return count


def quarter_counter() -> Count:
    """Characters by four, of the whole body but its model."""
    return lambda body, format, model: (
        len(json.dumps(as_chat(body, format, model)["messages"])) // 4
    )


COUNTERS: dict[str, Callable[[], Count]] = {
    "contextwright": our_counter,
    "litellm": litellm_counter,
    "langchain": langchain_counter,
    "by hand": quarter_counter,
}


# --- the prompt cache ------------------------------------------------------------------------


def cached_shares(begin: Callable[[int], Talk], data: Path) -> dict[str, Any]:
    """Every request of the sessions: tokens sent, in the prefix of the one before, and the price.

    Priced by the rules of one provider: the prefix is read from the cache, the rest is written to
    it. Messages alone; a system prompt of the run is the first of them.
    """
    path = data / "trajectories" / "tau_airline_gpt4o.openai.jsonl"
    runs = caching.trajectories(path)
    totals = {"requests": 0, "sent": 0, "shared": 0, "failed": 0}
    for number in range(SESSIONS):
        session = caching.joined(runs[number * RUNS : (number + 1) * RUNS])
        play(begin(SESSION_TOKENS), session.messages, totals)
    price = find(PRICE_MODEL).prices
    assert price.cache_write is not None
    assert price.cache_read is not None
    fresh, shared = totals["sent"] - totals["shared"], totals["shared"]
    dollars = (fresh * price.cache_write + shared * price.cache_read) / 1e6
    return {**totals, "budget": SESSION_TOKENS, "dollars": dollars}


def play(talk: Talk, messages: Sequence[cw.Message], totals: dict[str, int]) -> None:
    previous: list[bytes] = []
    pending: list[cw.Message] = []
    for message in messages:
        if message.role != "assistant":
            pending.append(message)
            continue
        talk.add(pending)
        pending = [message]
        totals["requests"] += 1
        try:
            payload = talk.request()
        except Exception:  # a request that cannot be made is not sent
            totals["failed"] += 1
            continue
        turns = [encode(turn) for turn in payload.get("messages") or payload["contents"]]
        totals["sent"] += sum(map(size_of, turns))
        totals["shared"] += sum(map(size_of, common(previous, turns)))
        previous = turns


def common(previous: Sequence[bytes], turns: Sequence[bytes]) -> list[bytes]:
    """The turns at the beginning that are equal."""
    count = 0
    for before, now in zip(previous, turns, strict=False):
        if before != now:
            break
        count += 1
    return list(turns[:count])


@cache
def size_of(turn: bytes) -> int:
    return tokens(turn.decode())
