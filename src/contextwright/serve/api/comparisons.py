"""Two requests compared: moments, recipes and models of a conversation, or recorded requests."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from contextwright.context.context import Context
from contextwright.context.prompt import Prompt, prompt_of
from contextwright.context.receipt import Comparison
from contextwright.errors import UsageError, shown
from contextwright.models import find as find_model
from contextwright.serve.api.contexts import RequestQuery, build, recipe_named
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
            description="What differs in the other: `at:320`, `recipe:aya`, `request:7` …",
        ),
    ] = field(name="with")


class CompareRequestsQuery(RecordedQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which two recorded requests to compare."""

    other: Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="Number of the earlier one.")] = (
        field(name="with")
    )


class RequestFigures(Struct, frozen=True, kw_only=True):
    """One of two requests that are compared: made from a conversation, or recorded."""

    model: str
    format: str
    tokens: int
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
    byte: int | None
    cause: str
    cost: float | None


def compare_contexts(store: Store, query: CompareQuery) -> ComparisonAnswer:
    """Compare two requests of a conversation: where they part, why, and what that costs.

    `with` says what is different in the other, earlier request, or names a recorded one.
    """
    name, _, value = query.other.partition(":")
    context = build(store, query, recipe_named(query.recipe))
    this = figures_of(context, query.recipe)
    if name == "request":
        recorded, other = recorded_prompt(store, number_of(name, value))
        prompt = prompt_of(context.payload, context.format, context.model)
        return answer_of(prompt.compared_with(recorded), this, other)
    changed = number_of(name, value) if name in ("at", "budget") else value
    different = msgspec.structs.replace(query, **{name: changed})
    previous = build(store, different, recipe_named(different.recipe))
    comparison = context.compared_with(previous)
    return answer_of(comparison, this, figures_of(previous, different.recipe))


def compare_requests(store: Store, query: CompareRequestsQuery) -> ComparisonAnswer:
    """Compare two recorded requests: where they part, why, and what that costs."""
    previous, other = recorded_prompt(store, query.other)
    prompt, this = recorded_prompt(store, query.request)
    return answer_of(prompt.compared_with(previous), this, other)


def number_of(name: str, text: str) -> int:
    """Return the number that a text is.

    Raises:
        UsageError: it is something else.
    """
    if text.isascii() and text.isdecimal() and len(text) < 17 and 1 <= int(text) <= MAX_NUMBER:
        return int(text)
    raise UsageError(f"{name} cannot be {shown(text)}", hint="a number from 1")


def recorded_prompt(store: Store, number: int) -> tuple[Prompt, RequestFigures]:
    """Return what a provider was sent as its cache sees it, and its figures."""
    record, payload, format = sent_payload(store, number)
    prompt = prompt_of(payload, format, find_model(record.sent_model))
    figures = RequestFigures(
        model=record.sent_model, format=format, tokens=prompt.tokens, request=number
    )
    return prompt, figures


def figures_of(context: Context, recipe: str) -> RequestFigures:
    """Return a request in figures."""
    return RequestFigures(
        model=context.model.id,
        format=context.format,
        tokens=context.ledger.tokens,
        at=len(context.decisions),
        recipe=recipe,
        budget=context.ledger.budget,
    )


def answer_of(
    comparison: Comparison, this: RequestFigures, other: RequestFigures
) -> ComparisonAnswer:
    """Return a comparison as an answer."""
    return ComparisonAnswer(
        this=this,
        other=other,
        shared=comparison.shared,
        fresh=comparison.fresh,
        share=comparison.share,
        first_difference=comparison.first_difference,
        byte=comparison.byte,
        cause=comparison.cause,
        cost=comparison.cost,
    )
