"""Simulation: a recorded conversation, replayed request by request.

Each reply in a conversation answered one request: everything before it. `simulate` builds each of
these requests with a recipe, checks it against the provider's rules and the budget, and follows
what the provider's prompt cache would have kept. So you can choose a window on your own logs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from math import fsum
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from contextwright import formats
from contextwright.context.context import Context
from contextwright.context.recipe import Recipe
from contextwright.context.recipe_files import as_recipe
from contextwright.context.simulation.prompt_cache import Charge, PromptCache, dollars, price_of
from contextwright.errors import BudgetError, require
from contextwright.formats.api import check
from contextwright.messages.conversation import Conversation, as_conversation
from contextwright.messages.message import Message
from contextwright.messages.validation import naming_faults
from contextwright.models import Model, as_model
from contextwright.windows.decisions import Run as DecisionRun
from contextwright.windows.log import Log

__all__ = ["Measure", "Progress", "Request", "Row", "requests_of", "simulate", "total"]

Progress: TypeAlias = Callable[[int, int], object]
"""Called after each request with the number done and the total."""

START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
"""The start time for conversations without times; questions follow one minute apart."""


class Request(Struct, frozen=True):
    """One request of a run."""

    messages: int
    """The number of messages in the conversation."""
    tokens: int
    budget: int
    shared: int
    """Tokens that lie in the previous request's prefix."""
    charge: Charge
    dollars: float | None
    """The price of the input in dollars; None if the model's prices are unknown."""
    errors: tuple[str, ...] = ()
    """Errors that the provider would report."""
    over_budget: bool = False
    lost_question: bool = False
    cause: str = ""
    """Why the previous request's prefix broke, where it did."""
    again: int = 0
    """Tokens that an earlier request had sent and that are not read from the cache."""
    waste: float | None = 0.0
    """Dollars that `again` costs beyond reading it from the cache."""
    unread: str = ""
    """Why the shared prefix was not read whole."""
    runs: tuple[DecisionRun, ...] = ()
    """The decisions on all messages."""


class Row(Struct, frozen=True):
    """The result of one recipe over a whole run."""

    recipe: str
    requests: tuple[Request, ...]
    refused: int = 0
    """Requests that could not be made, because not even the newest turn fits the budget."""

    @property
    def invalid(self) -> int:
        """Requests that the provider would refuse."""
        return sum(bool(request.errors) for request in self.requests)

    @property
    def over_budget(self) -> int:
        """Requests larger than the budget."""
        return sum(request.over_budget for request in self.requests)

    @property
    def lost_questions(self) -> int:
        """Requests without the newest question."""
        return sum(request.lost_question for request in self.requests)

    @property
    def sent(self) -> int:
        """Tokens of all requests."""
        return sum(request.tokens for request in self.requests)

    @property
    def shared(self) -> int:
        """Tokens that are in the prefix of the previous request."""
        return sum(request.shared for request in self.requests)

    @property
    def uncached(self) -> int:
        """Tokens that no cache can hold: those outside the common prefix."""
        return self.sent - self.shared

    @property
    def share(self) -> float:
        """The share of all tokens sent that lies in the previous request's prefix."""
        return self.shared / self.sent if self.sent else 1.0

    @property
    def fill(self) -> float:
        """The average share of the budget that a request uses.

        Sending little makes a high cached share easy; this figure shows it.
        """
        shares = [request.tokens / request.budget for request in self.requests]
        return sum(shares) / len(shares) if shares else 0.0

    @property
    def breaks(self) -> int:
        """The number of requests that did more than add to the previous one."""
        return sum(bool(request.cause) for request in self.requests)

    @property
    def dollars(self) -> float | None:
        """The price of the input of all requests in dollars; None if prices are unknown."""
        known = [request.dollars for request in self.requests if request.dollars is not None]
        return fsum(known) if len(known) == len(self.requests) else None

    @property
    def sound(self) -> bool:
        """Whether every request was made, legal, within budget, and included its question."""
        return not (self.refused or self.invalid or self.over_budget or self.lost_questions)

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON, without the single requests."""
        return {
            "recipe": self.recipe,
            "requests": len(self.requests) + self.refused,
            "refused": self.refused,
            "invalid": self.invalid,
            "over_budget": self.over_budget,
            "lost_questions": self.lost_questions,
            "sent": self.sent,
            "shared": self.shared,
            "uncached": self.uncached,
            "share": round(self.share, 4),
            "fill": round(self.fill, 4),
            "breaks": self.breaks,
            "dollars": None if self.dollars is None else round(self.dollars, 6),
        }


def simulate(
    conversation: Conversation | Iterable[Message],
    recipes: Sequence[Recipe | str] | Recipe | str,
    *,
    model: str | Model,
    budget: int | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Replay a conversation with each recipe; return one row per recipe, in their order.

    Time sections get the time of the newest question.
    """
    conversation = as_conversation(conversation)
    facts = as_model(model)
    places = requests_of(conversation.messages)
    listed = [recipes] if isinstance(recipes, str | Recipe) else recipes
    require(listed, Sequence, "recipes", "names of recipes, or Recipe(…)")
    require(progress, Callable | None, "progress", "pass a function")
    tried = [as_recipe(one) for one in listed]
    name = facts.format if format is None else formats.find(format).name
    rows: list[Row] = []
    for number, recipe in enumerate(tried):
        run = Run(conversation, recipe, facts, name, budget)
        requests: list[Request] = []
        for done, place in enumerate(places, 1):
            with naming_faults(conversation):
                request = run.request(place)
            if request is not None:
                requests.append(request)
            if progress is not None:
                progress(number * len(places) + done, len(tried) * len(places))
        rows.append(Row(recipe.name, tuple(requests), len(places) - len(requests)))
    return rows


def total(rows: Sequence[Row]) -> Row:
    """Combine the rows of one recipe over several conversations."""
    requests = tuple(request for row in rows for request in row.requests)
    return Row(rows[0].recipe, requests, sum(row.refused for row in rows))


def requests_of(messages: Sequence[Message]) -> list[int]:
    """Return the number of messages in each request: those before each reply, and all at the end.

    Consecutive assistant messages are one reply. Assistant messages before the first question are
    not replies.
    """
    places: list[int] = []
    spoken = waiting = False
    for place, message in enumerate(messages):
        if message.visibility != "public" or message.role == "system":
            continue
        if message.role != "assistant":
            spoken = waiting = True
        elif spoken and waiting:
            places.append(place)
            waiting = False
    return [*places, len(messages)] if waiting else places


class Run:
    """One conversation under one recipe; every message is priced once."""

    def __init__(
        self,
        conversation: Conversation,
        recipe: Recipe,
        model: Model,
        format: str,
        budget: int | None,
    ) -> None:
        reply_tools = {**conversation.reply_tools, **recipe.reply_tools}
        self.recipe = msgspec.structs.replace(recipe, reply_tools=reply_tools)
        self.conversation = conversation
        self.model = model
        self.format = format
        self.budget = budget
        self.history = recipe.history(model=model, format=format)
        self.clock = Clock()
        self.measure = Measure(model, format)

    def request(self, place: int) -> Request | None:
        """Return the request after a number of messages; None if nothing fits the budget."""
        self.history.extend(self.conversation.messages[len(self.history) : place])
        now = self.clock.at(self.history.log)
        try:
            context = self.recipe.build(
                self.history,
                model=self.model,
                format=self.format,
                tools=self.conversation.tools,
                now=now,
                budget=self.budget,
            )
        except BudgetError:
            return None
        return self.measure(context)


class Measure:
    """Measures the requests of a run, each against the one before and the provider's cache."""

    def __init__(self, model: Model, format: str) -> None:
        self.model = model
        self.format = format
        self.cache = PromptCache(format, model)
        self.previous: Context | None = None

    def __call__(self, context: Context) -> Request:
        """Measure the next request: check it against rules and budget, compare it with the last."""
        previous, self.previous = self.previous, context
        problems = check(context.payload, self.format, model=self.model)
        comparison = context.compared_with(previous) if previous else None
        charge = self.cache.charge(context)
        ledger = context.ledger
        shared = comparison.shared if comparison else 0
        broke = comparison is not None and comparison.first_difference is not None
        unread = self.cache.why_unread(shared, charge)
        again = sent_again(context, previous, charge) if broke or unread else 0
        return Request(
            messages=len(context.decisions),
            tokens=ledger.tokens,
            budget=ledger.budget,
            shared=shared,
            charge=charge,
            dollars=dollars(charge, self.model),
            errors=tuple(str(problem) for problem in problems if problem.level == "error"),
            over_budget=ledger.most > ledger.budget,
            lost_question=lost_question(context),
            cause=comparison.cause if comparison and broke else "",
            again=again,
            waste=price_of(again, self.model),
            unread=unread,
            runs=tuple(context.decisions.runs),
        )


def sent_again(context: Context, previous: Context | None, charge: Charge) -> int:
    """Return the tokens that are neither read from the cache nor of messages new since then."""
    if previous is None:
        return 0
    before, ledger = len(previous.decisions), context.ledger
    new = sum(tokens for index, tokens in context.decisions.tokens.items() if index >= before)
    return max(ledger.tokens - ledger.wrappers - new - charge.read, 0)


def lost_question(context: Context) -> bool:
    """Whether the newest question is not in the request."""
    question = context.decisions.view.question
    return question is not None and not context.decisions.is_kept(question)


class Clock:
    """The time of the newest question, recorded or invented."""

    def __init__(self) -> None:
        self.question: int | None = None
        self.questions = 0

    def at(self, log: Log) -> datetime:
        """Return the time for sections now."""
        question = log.questions[-1] if log.questions else None
        if question != self.question:
            self.question = question
            self.questions += 1
        moment = log[question].time if question is not None else None
        return moment or START + timedelta(minutes=self.questions)
