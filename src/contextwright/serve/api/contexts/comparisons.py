"""Two requests compared: moments, recipes and models of a conversation, or recorded requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from contextwright.context.context import Context
from contextwright.context.prompt import (
    Difference,
    Prompt,
    difference_of,
    prompt_of,
    with_plain_strings,
)
from contextwright.context.receipt import Comparison, Unit
from contextwright.context.simulation.prompt_cache import Charge, dollars
from contextwright.errors import UsageError, shown
from contextwright.models import Model
from contextwright.models import find as find_model
from contextwright.serve.api.contexts.contexts import RequestQuery, build, recipe_named
from contextwright.serve.api.requests import RecordedQuery, sent_payload
from contextwright.serve.http.fields import MAX_NUMBER
from contextwright.store.store import Store

__all__ = ["compare_contexts", "compare_requests"]


class CompareQuery(RequestQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which two requests to compare."""

    other: Annotated[
        str,
        Meta(
            pattern="^(at|recipe|model|budget|format|now|request):.+$",
            max_length=300,
            description="What differs in the other: `at:320`, `recipe:aya` …, or `request:7`",
        ),
    ] = field(name="with")


class CompareRequestsQuery(RecordedQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which two recorded requests to compare."""

    other: Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="Number of the earlier one.")] = (
        field(name="with")
    )


class MessageRange(Struct, frozen=True, array_like=True):
    """Messages `first` to `last`."""

    first: int
    last: int


class RequestFigures(Struct, frozen=True, kw_only=True):
    """One of two requests that are compared: made from a conversation, or recorded."""

    model: str
    format: str
    tokens: int
    parts: dict[str, int]
    """Tokens by field of the payload: `system`, `tools`, `messages` …"""
    price: float | None
    """Dollars of its input, with nothing in the cache."""
    only: list[MessageRange] = []
    """Messages that only this request has."""
    at: int | None = None
    recipe: str | None = None
    budget: int | None = None
    request: int | None = None


class ComparisonAnswer(Struct, frozen=True, kw_only=True):
    """How much of the other request is a prefix of this one, why not more, and its cost."""

    this: RequestFigures
    other: RequestFigures
    shared: int
    fresh: int
    share: float
    first_difference: str | None
    seq: int | None
    """The number of the message at the first difference."""
    byte: int | None
    cause: str
    cost: float | None
    words: Difference | None
    """The first byte that differs, and the JSON around it in both."""


def compare_contexts(store: Store, query: CompareQuery) -> ComparisonAnswer:
    """Compare two requests of a conversation: where they first differ, why, and what that costs.

    `with` says what is different in the other, earlier request, or names a recorded one.
    """
    name, _, value = query.other.partition(":")
    context = build(store, query, recipe_named(query.recipe))
    payload = context.payload
    if name == "request":
        recorded, other, earlier = recorded_prompt(store, number_of(name, value))
        payload = with_plain_strings(payload)
        prompt = prompt_of(payload, context.format, context.model)
        this, comparison = figures_of(context, query.recipe), prompt.compared_with(recorded)
    else:
        changed = number_of(name, value) if name in ("at", "budget") else value
        different = msgspec.structs.replace(query, **{name: changed})
        previous = build(store, different, recipe_named(different.recipe))
        earlier, comparison = previous.payload, context.compared_with(previous)
        this = figures_of(context, query.recipe, previous)
        other = figures_of(previous, different.recipe, context)
    numbers = {unit.place: unit.seq for unit in context.prefix}
    seq = numbers.get(comparison.first_difference or "")
    return answer_of(comparison, this, other, difference_of(payload, earlier), seq)


def compare_requests(store: Store, query: CompareRequestsQuery) -> ComparisonAnswer:
    """Compare two recorded requests: where they first differ, why, and what that costs."""
    previous, other, earlier = recorded_prompt(store, query.other)
    prompt, this, payload = recorded_prompt(store, query.request)
    words = difference_of(payload, earlier)
    return answer_of(prompt.compared_with(previous), this, other, words)


def number_of(name: str, text: str) -> int:
    """Return the number that a text is.

    Raises:
        UsageError: it is something else.
    """
    if text.isascii() and text.isdecimal() and len(text) < 17 and 1 <= int(text) <= MAX_NUMBER:
        return int(text)
    raise UsageError(f"{name} cannot be {shown(text)}", hint="a number from 1")


def recorded_prompt(store: Store, number: int) -> tuple[Prompt, RequestFigures, dict[str, Any]]:
    """Return what a provider was sent as its cache sees it, its figures and its payload."""
    record, payload, format = sent_payload(store, number)
    model = find_model(record.sent_model)
    prompt = prompt_of(payload, format, model)
    figures = RequestFigures(
        model=record.sent_model,
        format=format,
        tokens=prompt.tokens,
        parts=tokens_by_field(prompt.units),
        price=price_of(prompt.tokens, model),
        request=number,
    )
    return prompt, figures, with_plain_strings(payload)


def figures_of(context: Context, recipe: str, other: Context | None = None) -> RequestFigures:
    """Return a request in figures; with another, also the messages that only it has."""
    return RequestFigures(
        model=context.model.id,
        format=context.format,
        tokens=context.ledger.tokens,
        parts=tokens_by_field(context.prefix),
        price=price_of(context.ledger.tokens, context.model),
        only=[] if other is None else ranges_of(only_in(context, other)),
        at=len(context.decisions),
        recipe=recipe,
        budget=context.ledger.budget,
    )


def tokens_by_field(units: Iterable[Unit]) -> dict[str, int]:
    """Return the tokens of a prompt by field of the payload."""
    parts: dict[str, int] = {}
    for unit in units:
        field = unit.place.partition("[")[0]
        parts[field] = parts.get(field, 0) + unit.tokens
    return parts


def price_of(tokens: int, model: Model) -> float | None:
    """Return the price of input tokens that are not in the cache, in dollars."""
    return dollars(Charge(0, 0, tokens), model)


def only_in(context: Context, other: Context) -> list[int]:
    """Return the numbers of the messages that one request has and the other has not."""
    there = set(other.decisions.kept())
    return [index + 1 for index in context.decisions.kept() if index not in there]


def ranges_of(numbers: Iterable[int]) -> list[MessageRange]:
    """Return ascending numbers as ranges."""
    ranges: list[MessageRange] = []
    for number in numbers:
        if ranges and ranges[-1].last == number - 1:
            ranges[-1] = MessageRange(ranges[-1].first, number)
        else:
            ranges.append(MessageRange(number, number))
    return ranges


def answer_of(
    comparison: Comparison,
    this: RequestFigures,
    other: RequestFigures,
    words: Difference | None,
    seq: int | None = None,
) -> ComparisonAnswer:
    """Return a comparison as an answer."""
    return ComparisonAnswer(
        this=this,
        other=other,
        shared=comparison.shared,
        fresh=comparison.fresh,
        share=comparison.share,
        first_difference=comparison.first_difference,
        seq=seq,
        byte=comparison.byte,
        cause=comparison.cause,
        cost=comparison.cost,
        words=words,
    )
