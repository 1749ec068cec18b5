"""Contexts: the request for a conversation at a moment, its receipt, and two of them compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from contextwright import formats
from contextwright.context import recipe_files
from contextwright.context.context import Context
from contextwright.context.receipt import Ledger, Unit
from contextwright.context.recipe import Recipe
from contextwright.context.simulation.prompt_cache import marks_of
from contextwright.errors import Level, NotFound, Problem, UsageError, shown
from contextwright.formats import FormatName
from contextwright.formats.api import ANY_MODEL, check
from contextwright.messages.conversation import Conversation
from contextwright.messages.times import read_iso, require_time
from contextwright.models import find as find_model
from contextwright.serve.http.fields import (
    Budget,
    ConversationId,
    ModelName,
    Now,
    RecipeName,
    Seq,
)
from contextwright.store.frames import frame_of, newest_question_time
from contextwright.store.store import Store
from contextwright.windows.decisions import Action

__all__ = [
    "build_context",
    "build_context_with",
    "get_payload",
    "recipe_named",
]

PLACE = re.compile(r"messages\[(\d+)\]")

WithPayload: TypeAlias = Annotated[bool, Meta(description="Whether to send the payload too.")]


class MomentQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which moment of a conversation a request is for, and who reads it."""

    conversation: ConversationId
    at: Annotated[Seq, Meta(description="Build the request after this message.")] | None = None
    model: ModelName | None = None
    budget: Budget | None = None
    format: FormatName | None = None
    now: Now | None = None


class RequestQuery(MomentQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which request of a conversation to build."""

    recipe: RecipeName = "default"


class ContextQuery(RequestQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which request of a conversation to build, and what to answer of it."""

    payload: WithPayload = True


class OwnContextQuery(MomentQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which request to build with a recipe of one's own."""

    payload: WithPayload = True


class RecipeBody(Struct, frozen=True, forbid_unknown_fields=True):
    """A recipe of your own, as a recipe file has it."""

    recipe: dict[str, Any]


class MessageRun(Struct, frozen=True):
    """Neighbouring messages with the same decision, from number `first` to number `last`."""

    first: int
    last: int
    action: Action
    reason: str
    tokens: int | None


class SentMessage(Struct, frozen=True):
    """A message of the request, and its tokens there."""

    seq: int
    tokens: int


class PlacedChange(Struct, frozen=True):
    """A change, and the number of the message it is about."""

    code: str
    path: str
    reason: str
    seq: int | None


class PlacedProblem(Struct, frozen=True):
    """A problem of the payload; `path` leads into it, `seq` is the message that stands there."""

    code: str
    path: str
    message: str
    level: Level
    seq: int | None


class SectionText(Struct, frozen=True):
    """A section of the system text; without text, `absence` says why."""

    name: str
    text: str
    tokens: int
    absence: str = ""


class ContextAnswer(Struct, frozen=True, kw_only=True):
    """A request and its receipt."""

    conversation: str
    at: int
    recipe: str
    model: str
    format: str
    ledger: Ledger
    answer: int
    """Tokens that are kept free for the answer, next to the budget."""
    price: float | None
    runs: list[MessageRun]
    sent: list[SentMessage]
    sections: list[SectionText]
    changes: list[PlacedChange]
    problems: list[PlacedProblem]
    units: list[Unit]
    marks: list[int]
    payload: dict[str, Any] | None


def build_context(store: Store, query: ContextQuery) -> ContextAnswer:
    """Build a request and its receipt.

    By default with the recipe `default` for the model of the conversation, after the last message.
    Nothing is stored. A budget that is too small is refused with the smallest that works.
    """
    recipe = recipe_named(query.recipe)
    context = build(store, query, recipe)
    return answer_of(query.conversation, context, recipe, payload=query.payload)


def build_context_with(store: Store, query: OwnContextQuery, body: RecipeBody) -> ContextAnswer:
    """Build a request with a recipe of your own.

    It may not name files, nor classes by their import path.
    """
    recipe = recipe_files.read(body.recipe, name="yours")
    context = build(store, query, recipe)
    return answer_of(query.conversation, context, recipe, payload=query.payload)


def get_payload(store: Store, query: RequestQuery) -> dict[str, Any]:
    """Return the payload of a request, and nothing else."""
    return build(store, query, recipe_named(query.recipe)).payload


# --- building ------------------------------------------------------------------------------------


def build(store: Store, query: MomentQuery, recipe: Recipe) -> Context:
    """Return the context that a query asks for."""
    chat = store.conversation(query.conversation)
    info = chat.details()
    if query.at is not None and query.at > info.length:
        raise NotFound(f"there is no message {query.at}", hint=f"the last is {info.length}")
    frame = frame_of(info)
    return chat.context(
        recipe_for(recipe, frame),
        at=query.at,
        model=find_model(query.model or own_model(frame.model, query.format)),
        format=query.format,
        tools=frame.tools,
        now=time_of(query.now) if query.now else newest_question_time(chat, query.at),
        budget=query.budget,
    )


def recipe_for(recipe: Recipe, frame: Conversation) -> Recipe:
    """Return the recipe with the reply tools of a conversation."""
    reply_tools = {**frame.reply_tools, **recipe.reply_tools}
    return msgspec.structs.replace(recipe, reply_tools=reply_tools)


def recipe_named(name: str) -> Recipe:
    """Return a recipe of the package; its name is never a file's.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in recipe_files.SHIPPED:
        known = ", ".join(recipe_files.SHIPPED)
        raise UsageError(f"unknown recipe {shown(name)}", hint=f"known: {known}")
    return recipe_files.find(name)


def own_model(named: str | None, format: str | None) -> str:
    """Return the model of a conversation, else one that reads the format."""
    default = formats.find(format).default_model if format else None
    return named or default or ANY_MODEL


def time_of(text: str) -> datetime:
    """Return a time that is written in ISO 8601; without a zone it is UTC.

    Raises:
        UsageError: it is something else.
    """
    try:
        return require_time(read_iso(text))
    except ValueError:
        hint = "example: 2026-11-15T13:05:00+02:00"
        raise UsageError(f"{shown(text)} is not an ISO 8601 time", hint=hint) from None


# --- answers -------------------------------------------------------------------------------------


def answer_of(
    conversation: str, context: Context, recipe: Recipe, *, payload: bool
) -> ContextAnswer:
    """Return a context as an answer."""
    decisions, ledger = context.decisions, context.ledger
    problems = check(context.payload, context.format, model=context.model)
    price = context.model.prices.input
    return ContextAnswer(
        conversation=conversation,
        at=len(decisions),
        recipe=recipe.name,
        model=context.model.id,
        format=context.format,
        ledger=ledger,
        answer=recipe.output_limit(context.conversation.settings.max_tokens),
        price=None if price is None else ledger.tokens * price / 1_000_000,
        runs=[
            MessageRun(run.start + 1, run.stop, run.action, run.reason, decisions.run_tokens(run))
            for run in decisions.runs
        ],
        sent=[SentMessage(index + 1, decisions.tokens.get(index, 0)) for index in decisions.kept()],
        sections=sections_of(context),
        changes=[
            PlacedChange(one.code, one.path, one.reason, seq_in(one.path))
            for one in context.changes
        ],
        problems=placed(problems, context.prefix),
        units=list(context.prefix),
        marks=list(marks_of(context)),
        payload=context.payload if payload else None,
    )


def sections_of(context: Context) -> list[SectionText]:
    """Return the sections in their order, those without text at the end."""
    tokens = context.ledger.sections
    present = [
        SectionText(name, text, tokens.get(name, 0)) for name, text in context.sections.items()
    ]
    return [*present, *(SectionText(name, "", 0, why) for name, why in context.absent.items())]


def placed(problems: Iterable[Problem], units: Iterable[Unit]) -> list[PlacedProblem]:
    """Return problems with the numbers of the messages that stand at their places."""
    numbers = {unit.place: unit.seq for unit in units}
    return [
        PlacedProblem(one.code, one.path, one.message, one.level, numbers.get(turn_of(one.path)))
        for one in problems
    ]


def turn_of(path: str) -> str:
    """Return the turn of a payload that a path leads into: `messages[3]` of it."""
    return path.partition("]")[0] + "]"


def seq_in(path: str) -> int | None:
    """Return the number of the message that a path into the history leads to."""
    found = PLACE.match(path)
    return int(found[1]) + 1 if found else None
