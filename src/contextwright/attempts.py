"""One try at a context within one budget: window, render, count, and what gives way."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from contextwright.api import render
from contextwright.caching import Boundaries, mark_cache
from contextwright.changes import Change
from contextwright.context import Context, Ledger, is_marked, units_of
from contextwright.formats.base import Conversation, Rendered
from contextwright.messages import Message, Text
from contextwright.omissions import Omission
from contextwright.shares import REQUIRED, costs, within_shares
from contextwright.shortening import cut_to, longest_text
from contextwright.summaries import Told
from contextwright.thinking import open_turn, without_thinking
from contextwright.tokens import Count
from contextwright.windows import Decisions, Stepped

if TYPE_CHECKING:
    from contextwright.building import Build

__all__ = ["Attempt"]

replace = msgspec.structs.replace

SHORTEST = 200
"""Texts are never cut to less than so many characters."""
NOTHING_TOLD = Told()
SHARE = 4
"""A summary takes at most one of so many parts of the room for messages."""


class Draft(Struct, frozen=True):
    """What is to be rendered."""

    messages: list[Message]
    places: list[int | str]
    """Where each stands in the history; the note and the summary by name."""
    changes: list[Change]
    decisions: Decisions


class Trial(Struct, frozen=True):
    """A draft, rendered and counted."""

    draft: Draft
    conversation: Conversation
    rendered: Rendered
    count: Count


class Attempt:
    """One context under one budget; every step reads what the ones before it left."""

    def __init__(self, build: Build, budget: int) -> None:
        self.build = build
        self.recipe = build.recipe
        self.history = build.history
        self.meter = build.meter
        self.budget = budget
        self.sections, self.changes = within_shares(
            build.said, budget, build.recipe.placement, build.meter.text
        )
        self.noted = True
        """Messages that are left out are spoken of."""
        self.longest: int | None = None
        """Texts of the newest turn are cut to so many characters; None: not at all."""

    def made(self) -> Context | Count:
        """The context, or what the least costs that could be sent."""
        found = self.found()
        return found if isinstance(found, Count) else self.finished(self.with_summary(found))

    def found(self) -> Trial | Count:
        """What fits, and where the cut is; no summary is told yet, and nobody is asked for one.

        Less important sections go, then the note, and long texts are cut, before it is refused.
        """
        while True:
            found = self.fitted()
            if isinstance(found, Trial) or not self.give_way(found):
                return found

    def fitted(self) -> Trial | Count:
        """Window, render, count; ask the window for less until the payload fits."""
        self.fixed = self.counted_frame()
        limit = self.history_limit()
        while True:
            decisions = self.decisions(limit)
            trial = self.trial(decisions)
            free = self.budget - trial.count.most
            short = (self.allowance() if self.last_told(decisions) else 0) - free
            if short <= 0:
                return trial
            if limit <= 0 or self.decisions(0).staying == decisions.staying:
                # Less cannot be sent: a summary has what is left, if anything is.
                return trial if free >= 0 else trial.count
            limit = max(0, limit - max(short, self.budget // 64, 1))

    def with_summary(self, bare: Trial) -> Trial:
        """The same, with what is left out told in a summary, if there is one and room for it.

        It is asked for once the cut is final, so that it ends there.
        """
        decisions, summaries = bare.draft.decisions, self.build.summaries
        last = self.last_told(decisions)
        # Where more has to be read first, the cut is not what it will be.
        if summaries is None or not last or decisions.wanted:
            return bare
        told = summaries.upto(last)
        tokens = min(self.allowance(), self.budget - bare.count.most)
        trial = self.trial(decisions, told, tokens)
        while trial.count.most > self.budget:
            # Among others it may cost a little more than alone.
            tokens -= trial.count.most - self.budget
            trial = self.trial(decisions, told, tokens)
        return trial

    def trial(self, decisions: Decisions, told: Told = NOTHING_TOLD, tokens: int = 0) -> Trial:
        """The request for what is kept, with a summary of the rest within so many tokens."""
        draft = self.draft(self.omission(decisions, told, tokens))
        conversation = self.conversation(draft.messages)
        rendered = self.rendered(conversation)
        return Trial(draft, conversation, rendered, self.meter.count(rendered.payload))

    def give_way(self, count: Count) -> bool:
        """Leave out the least important section or the note, or cut the longest text.

        False: there is nothing left to do.
        """
        optional = [section for section in self.sections if section.priority < REQUIRED]
        if optional:
            least = min(optional, key=lambda section: section.priority)
            self.sections.remove(least)
            self.changes.append(Change("loss.section", least.name, "no room in the budget"))
            return True
        if self.noted and self.recipe.note is not None:
            self.noted = False
            return True
        if self.recipe.oversize == "refuse" or self.longest == SHORTEST:
            return False
        if self.longest is None:
            least = self.trial(self.decisions(0)).draft.messages
            self.longest = max(map(longest_text, least), default=0)
        # Down to the shortest, so that the budget an error names is one that works.
        shorter = int(self.longest * min(0.9, self.budget / max(count.most, 1)))
        self.longest = max(shorter, SHORTEST)
        return True

    # --- the fixed part ----------------------------------------------------------------------

    @property
    def steady(self) -> list[str]:
        """The texts of the system message, what never changes first."""
        return [section.text for section in self.sections if not section.beside]

    @property
    def static(self) -> list[str]:
        """The first texts of the system message that never change."""
        steady = (section for section in self.sections if not section.beside)
        return [section.text for section in takewhile(lambda section: section.static, steady)]

    @property
    def volatile(self) -> str:
        """The text that goes beside the newest question."""
        return "\n\n".join(section.text for section in self.sections if section.beside)

    def counted_frame(self) -> Count:
        """What the request costs without messages."""
        build, recipe = self.build, self.recipe
        key = (self.steady, build.tools, recipe.reply_tools, recipe.options, build.frame)
        return self.meter.frame(key, lambda: self.rendered(self.conversation(())).payload)

    def history_limit(self) -> int:
        """What the fixed part leaves for messages.

        Rounded, so that a clock that grows by a token does not move the cut.
        """
        fixed = self.fixed.most + self.meter.text(self.volatile)
        coarse = max(1, self.budget // 64)
        return max(0, self.budget - -(-fixed // coarse) * coarse)

    def room(self) -> int:
        """The room for what a window may drop.

        What changes every turn does not count and the rest is rounded, so that it stays put.
        """
        room = self.budget - self.fixed.most - self.history.always_before(len(self.history))
        coarse = max(1, self.budget // 16)
        return max(coarse, room // coarse * coarse)

    def grid(self, step: float) -> int:
        """The width of a stepped window's grid: a share of the room for what a window may drop.

        Were it a share of the budget, a long system text would make one step as wide as the whole
        window.
        """
        return max(1, int(self.room() * step))

    def allowance(self) -> int:
        """What a summary may cost; it is kept free once anything is left out, so that the cut does
        not move when a summary comes.
        """
        summary = self.recipe.summary
        return min(summary.tokens, self.room() // SHARE) if summary else 0

    # --- the messages ------------------------------------------------------------------------

    def decisions(self, limit: int) -> Decisions:
        """What the window keeps within a limit; its grid follows what never changes."""
        window = self.recipe.window
        if isinstance(window, Stepped) and window.grid is None:
            window = replace(window, grid=self.grid(window.step))
        decisions = window.decide(self.history, limit)
        if self.recipe.summary and decisions.omitted:
            return window.decide(self.history, max(0, limit - self.allowance()))
        return decisions

    def draft(self, omission: Omission) -> Draft:
        """What is kept, what is told of the rest, and the volatile text beside the question."""
        messages: list[Message] = []
        places: list[int | str] = []
        decisions, changes = omission.decisions, omission.changes
        gap, question, volatile = decisions.gap, self.history.question, self.volatile
        company = [*self.build.company, *([Text(volatile)] if volatile else [])]
        seen = self.history.seen()
        for place in decisions.places():
            message = self.history.at(place, seen)
            if self.longest is not None:
                whole, message = message, cut_to(message, self.longest)
                if message is not whole:
                    reason = f"no text is longer than {self.longest:,} characters"
                    changes.append(Change("loss.cut", self.named(place), reason))
            if place == gap:
                messages.extend(omission.messages.values())
                places.extend(omission.messages)
            if place == question and company:
                message = message.with_parts((*message.parts, *company))
            messages.append(message)
            places.append(place)
        self.leave_thinking(messages, places, decisions, changes)
        return Draft(messages, places, changes, decisions)

    def omission(self, decisions: Decisions, told: Told, tokens: int) -> Omission:
        """What is said of the messages that are left out."""
        omission = Omission(decisions, {}, [])
        if decisions.gap is not None:
            omission.summarise(told, tokens, self.history.telling)
            omission.note(self.recipe.note, has_room=self.noted)
        return omission

    def last_told(self, decisions: Decisions) -> int:
        """The number of the last message that a summary would tell of; 0 where none has a place."""
        return 0 if decisions.gap is None else self.history.number(decisions.start)

    def leave_thinking(
        self,
        messages: list[Message],
        places: list[int | str],
        decisions: Decisions,
        changes: list[Change],
    ) -> None:
        """Take away thinking that is bound to words which are not before it any more.

        An open tool loop keeps its thinking on the models whose API demands it.
        """
        changed = self.first_change(decisions)
        if changed is None:
            return
        demanded = open_turn(messages) if self.build.model.legacy_thinking else len(messages)
        for index, place in enumerate(places[:demanded]):
            bare = without_thinking(messages[index])
            if bare is not messages[index] and isinstance(place, int) and place > changed:
                messages[index] = bare
                reason = "what stood before it is not what it was"
                changes.append(Change("loss.thinking", self.named(place), reason))

    def first_change(self, decisions: Decisions) -> int | None:
        """The first place that is not sent as it was when later thinking was signed.

        Models that check it also see that the clock has moved on.
        """
        if self.build.model.bound_thinking and not all(each.static for each in self.sections):
            return -1
        if not decisions.changed:
            return None
        hidden = self.history.hidden
        reached = 0
        for run in decisions.staying:
            unseen = bisect_left(hidden, run.start) - bisect_left(hidden, reached)
            if run.start - reached > unseen:
                break
            if run.action == "cleared":
                return run.start
            reached = run.stop
        return reached

    # --- the request -------------------------------------------------------------------------

    def conversation(self, messages: Sequence[Message]) -> Conversation:
        """The system text and these messages, with all that goes beside them."""
        build, recipe = self.build, self.recipe
        texts = self.steady
        system = [Message("system", tuple(map(Text, texts)))] if texts else []
        return replace(
            build.frame,
            messages=(*system, *messages),
            tools=build.tools,
            settings=replace(build.frame.settings, max_tokens=recipe.answer),
            reply_tools={**build.frame.reply_tools, **recipe.reply_tools},
        )

    def rendered(self, conversation: Conversation) -> Rendered:
        """The request for a conversation."""
        build = self.build
        return render(conversation, build.format, model=build.model, **self.recipe.options)

    def finished(self, trial: Trial) -> Context:
        """The context, with cache marks and its ledger."""
        draft, rendered, count = trial.draft, trial.rendered, trial.count
        build, payload = self.build, rendered.payload
        # Before our own marks are set: a prompt without any is hashed as it stands.
        marked = is_marked(rendered.json)
        units = units_of(payload, count.places, marked=marked)
        boundaries = Boundaries(self.volatile, self.static, build.frame.id)
        changes = mark_cache(
            payload,
            build.format,
            build.model,
            boundaries,
            set_marks=self.recipe.cache,
            marked=marked,
        )
        places = [*(["system"] if self.steady else []), *map(self.named, draft.places)]
        rendering = [
            replace(change, path=moved(change.path, places)) for change in rendered.changes
        ]
        return Context(
            payload,
            build.format,
            build.model,
            draft.decisions,
            (*build.lost, *self.changes, *draft.changes, *changes, *rendering),
            self.ledger(count),
            units,
            {section.name: section.text for section in self.sections},
            trial.conversation,
        )

    def named(self, place: int | str) -> str:
        """A place as changes name it: by the number of the message in the whole history."""
        return place if isinstance(place, str) else f"messages[{self.history.number(place)}]"

    def ledger(self, count: Count) -> Ledger:
        """The tokens by what they are for: the words of each section alone, and what joins them.

        All that messages add to a request without any is history.
        """
        price, tools = self.meter.tokens, count.places.get("tools", 0)
        frame = self.fixed.tokens - self.fixed.places.get("tools", 0)
        steady = costs((one for one in self.sections if not one.beside), frame, price)
        room = max(count.tokens - frame - tools, 0)
        beside = costs((one for one in self.sections if one.beside), room, price)
        history = room - sum(beside.values())
        return Ledger(
            tokens=count.tokens,
            exact=count.exact,
            bound=count.bound,
            most=count.most,
            budget=self.budget,
            sections={**steady, **beside},
            tools=tools,
            history=history,
            wrappers=count.tokens - tools - history - sum(steady.values()) - sum(beside.values()),
            places=count.places,
        )


def moved(path: str, places: Sequence[str]) -> str:
    """A path into the messages that were rendered as one into the history."""
    head, bracket, rest = path.partition("]")
    number = head.removeprefix("messages[")
    if not bracket or number == head or not number.isdecimal() or int(number) >= len(places):
        return path
    return places[int(number)] + rest
