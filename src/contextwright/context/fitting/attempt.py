"""One attempt at a request within a budget: decided by the window, rendered and counted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from math import inf

from msgspec import Struct

from contextwright.context.fitting.draft import NO_SUMMARY, Draft, Wording, draft, summary_stop
from contextwright.context.fitting.merged import MERGED, Merged
from contextwright.context.fitting.meter import Counted
from contextwright.context.fitting.plan import Plan
from contextwright.context.fitting.relaxation import Relaxation
from contextwright.context.omission import longest_note
from contextwright.formats.base import Rendered
from contextwright.messages.conversation import Conversation
from contextwright.summaries.summary import SummaryResult
from contextwright.text.json import spelling_of
from contextwright.tokens.count import Count
from contextwright.windows.decide import decide, drops_any
from contextwright.windows.decisions import Decisions
from contextwright.windows.history import View
from contextwright.windows.policies import Window
from contextwright.windows.room import Room

__all__ = ["Attempt", "Fitted"]

SUMMARY_SHARE = 0.25
"""Maximum share of the room for messages that a summary may take."""
WORTH = 0.5
"""The least share of what could be sent without a summary that its room must leave."""
CHEAPER = 1.25
"""How far messages that fit may exceed the free room, before their real price is known."""
NEWEST = (6, 2)
"""Messages before the question that stay, whatever sections want, while they take at most half of
the room: all six, or else the last two."""
NEWEST_STEP = 0.5
"""What may stay with them, as a share of their tokens, so that the cut moves in steps. A request
that is too small for the provider's prompt cache has the newest messages alone."""


class Fitted(Struct, frozen=True):
    """A request that was rendered and counted."""

    attempt: Attempt
    draft: Draft
    conversation: Conversation
    rendered: Rendered
    counted: Counted

    @property
    def count(self) -> Count:
        """Its tokens."""
        return self.counted.count

    @property
    def free(self) -> int:
        """The tokens of the budget that are left."""
        reserve = self.attempt.plan.recipe.reserve(self.count)
        return self.attempt.budget - self.count.most - reserve

    def keeps_more_than(self, other: Fitted) -> bool:
        """Whether fewer messages are left out than of another request."""
        return self.draft.decisions.omitted < other.draft.decisions.omitted


class Attempt:
    """One attempt at a request within one budget, with a given relaxation.

    `reserve` are tokens kept free for sections that are asked last; None: their shares, once
    anything is left out.
    """

    def __init__(
        self,
        plan: Plan,
        budget: int,
        relaxed: Relaxation,
        reserve: float | None = None,
        window: Window | None = None,
        *,
        for_summary: bool = True,
    ) -> None:
        self.plan, self.budget, self.relaxed, self.reserve = plan, budget, relaxed, reserve
        recipe = plan.recipe
        self.window = window or recipe.window
        self.for_summary = for_summary
        """Whether room is kept free for a summary."""
        asked = (relaxed.system, plan.tools, recipe.reply_tools, recipe.options, recipe.answer)
        self.fixed = plan.meter.empty_count(
            spelling_of((*asked, plan.frame)),
            lambda: plan.render(plan.conversation(relaxed.system, ())),
        )
        """The tokens of the request without messages."""
        beside = plan.meter.text(relaxed.volatile) + plan.meter.slack(budget)
        self.limit = budget - self.fixed.most - beside
        """The tokens left for messages."""

    def fitted(self) -> Fitted | Count:
        """Return the request, or the count of the smallest one this attempt could make."""
        return self._whole() or self._with_smaller_summary(self._cut())

    def _whole(self) -> Fitted | None:
        """Return the request with every message, if the window wants them all and they fit."""
        if self._is_outgrown:
            return None
        trial = self.trial(decide(self.window, self._whole_view, inf))
        return trial if trial.free >= (self.reserve or 0) else None

    @cached_property
    def _is_outgrown(self) -> bool:
        """Whether the window drops messages even if each costs the least it can."""
        history, window = self.plan.history, self.window
        most = (self.limit - (self.reserve or 0)) * 1.02 + 8 * MERGED
        if history.exceeds(most, window):
            return True
        if not drops_any(window, self._whole_view, most):
            return False
        # Without thinking where old thinking costs nothing.
        merged = Merged(history.history, whole=not self.plan.meter.drops_thinking)
        if not drops_any(window, merged, most):
            return False
        history.outgrow(merged.tail.reached, window)
        return True

    def _cut(self) -> Fitted | Count:
        """Return the request with as many messages as the window keeps and the budget allows."""
        first, *others = self.window.alternatives
        best = self._by(first)
        for window in others:
            most = decide(window, self._view, inf)
            if isinstance(best, Fitted) and most.omitted < best.draft.decisions.omitted:
                found = self._by(window)
                if isinstance(found, Fitted) and found.keeps_more_than(best):
                    best = found
        return best

    def _by(self, window: Window) -> Fitted | Count:
        """Return the request with as many messages as a variant of the window keeps."""
        if window != self.window:
            return self._like(window, for_summary=self.for_summary)._cut()
        found, limit = self._narrowed()
        if not isinstance(found, Fitted) or not self._is_emptier(found):
            return found
        more = self._widened if window.fullest == window else self._filled
        return more(found, limit)

    def _like(self, window: Window, *, for_summary: bool) -> Attempt:
        """Return the same attempt with another window."""
        plan, relaxed = self.plan, self.relaxed
        return Attempt(plan, self.budget, relaxed, self.reserve, window, for_summary=for_summary)

    def _with_smaller_summary(self, narrow: Fitted | Count) -> Fitted | Count:
        """Return the request, or one with less room for a summary, if that room costs too much.

        A large exchange may fit beside a short summary, and not beside the longest. A window that
        leaves room unused is measured by one that does not, as everywhere.
        """
        window = self.window
        if not isinstance(narrow, Fitted) or not self._reserved_for(narrow.draft.decisions):
            return narrow
        is_fullest = window.fullest == window
        share = WORTH if is_fullest else 1 - window.unused
        is_enough = self._sent(narrow) >= share * (self.budget - self.fixed.most)
        if is_enough or len(window.alternatives) > 1:  # of those the one with most messages counts
            return narrow
        fuller = self._like(window.fullest, for_summary=not is_fullest)
        fullest = fuller._cut() if is_fullest else fuller._with_smaller_summary(fuller._cut())
        if not isinstance(fullest, Fitted) or self._sent(narrow) >= share * self._sent(fullest):
            return narrow
        room = self._inside(self.limit)
        start = self._latest(fullest, narrow, share * self._sent(fullest), room)
        wide = self.trial(decide(window, self._view, room, since=start))
        return wide if wide.free >= 0 else fullest

    def _is_emptier(self, fitted: Fitted) -> bool:
        """Whether a request leaves more room unused than its window may."""
        free = fitted.free - self._reserved(fitted.draft.decisions)
        return free > self.window.unused * (self._sent(fitted) + free)

    def _spent(self, fitted: Fitted) -> float:
        """Return what the messages of a request were foreseen to cost."""
        return self._view.spent(fitted.draft.decisions.kept())

    def _narrowed(self) -> tuple[Fitted | Count, float]:
        """Lower the limit until a request fits; return it, or the count of the smallest.

        The limit that led to it comes with it.
        """
        limit: float = self.limit
        tried: Decisions | None = None
        less = 1.0
        while True:
            decisions = self._decide(limit)
            if tried is not None and decisions.staying == tried.staying:
                # It does not fit, whichever limit led to it.
                less *= 2
                limit = max(0.0, limit - less)
                continue
            trial, tried, less = self.trial(decisions), decisions, 1.0
            reserved = self._reserved(decisions)
            if trial.free >= reserved:
                return trial, limit
            if limit <= 0 or self.smallest().staying == decisions.staying:
                # Nothing smaller can be sent: a summary gets whatever is left.
                return (trial if trial.free >= 0 else trial.count), limit
            spent = self._view.spent(decisions.kept())
            limit = max(0.0, min(limit, spent + reserved) - max(reserved - trial.free, 1))

    def _widened(self, best: Fitted, fits: float) -> Fitted:
        """Return the request with as many more messages as fit into what rendering left free.

        `fits` is the limit that led to it. Tries the next larger request first, because messages
        mostly cost what was foreseen: then it does not fit, and no larger one does.
        """
        most = fits + best.free * CHEAPER + MERGED
        kept, limits = -best.draft.decisions.omitted, range(int(fits), int(most))
        if -self._decide(most).omitted <= kept:
            return best
        limit = int(fits) + bisect_right(limits, kept, key=lambda one: -self._decide(one).omitted)
        trial = self.trial(decisions := self._decide(limit))
        return best if trial.free < self._reserved(decisions) else self._widest(trial, limit, most)

    def _widest(self, best: Fitted, fits: float, most: float) -> Fitted:
        """Return the request of the limit that keeps the most, between two; the lower one fits."""
        fails = limit = most
        tried = [best.draft.decisions.staying]
        while best.draft.decisions.omitted and fails - fits >= 1:
            decisions = self._decide(limit)
            if decisions.staying not in tried:
                trial = self.trial(decisions)
                tried.append(decisions.staying)
                more = best.draft.decisions.omitted - decisions.omitted
                if more > 0 and trial.free >= self._reserved(decisions):
                    best = trial
            if decisions.omitted >= best.draft.decisions.omitted:
                fits = limit
            else:
                fails = limit
            limit = (fits + fails) / 2
        # Where the largest limit fits, messages cost less than foreseen: even more may fit.
        return self._widened(best, most) if fits == most else best

    def _filled(self, narrow: Fitted, limit: float) -> Fitted:
        """Return the request, or a fuller one if it sends less than it must of what could be sent.

        Asks the window again to begin where enough is sent at the latest, so that a cut which is
        still enough stays where it is. `limit` is the one that led to the request.
        """
        fullest = self._by(self.window.fullest)
        if not isinstance(fullest, Fitted):
            return narrow
        least = (1 - self.window.unused) * self._sent(fullest)
        if self._sent(narrow) >= least:
            return narrow
        window = self.window.begun_by(self._latest(fullest, narrow, least, self._inside(limit)))
        room = min(self._inside(self.limit), self._spent(fullest))
        wide = self.trial(self._decided(window, room))
        fits = wide.free >= self._reserved(wide.draft.decisions)
        return wide if fits and self._sent(wide) >= least else fullest

    def _latest(self, fullest: Fitted, narrow: Fitted, least: float, room: float) -> int:
        """Return the newest index that sends enough, between the cuts of two requests."""
        first, last = fullest.draft.decisions.cut, narrow.draft.decisions.cut

        def is_short(index: int) -> bool:
            kept = decide(self.window, self._view, room, since=index)
            return self._sent(self.trial(kept)) < least

        return first + bisect_left(range(first + 1, last), True, key=is_short)

    def _sent(self, fitted: Fitted) -> int:
        """Return the tokens that the messages of a request take."""
        return fitted.count.most - self.fixed.most

    def _reserved(self, decisions: Decisions) -> float:
        """Return the tokens to keep free for a summary of what is left out, and for sections."""
        return self._reserved_for(decisions) + (self.kept_free if decisions.omitted else 0)

    def _reserved_for(self, decisions: Decisions) -> float:
        """Return the tokens to keep free for a summary of what is left out."""
        return self._summary_room if summary_stop(decisions) else 0

    @cached_property
    def kept_free(self) -> float:
        """The tokens that sections which are asked last have free once anything is left out.

        It is less than they want if the newest few messages need more room.
        """
        _, tokens = self._newest
        # A little more than they cost, because rendered they may.
        return max(min(self._wanted, self._room - tokens - MERGED), 0.0)

    @property
    def _wanted(self) -> float:
        """The tokens that sections which are asked last want to have free."""
        return self.relaxed.share if self.reserve is None else self.reserve

    @property
    def _room(self) -> float:
        """The tokens for messages and for sections that are asked last."""
        return max(self.limit - self._summary_room - self._note_cost, 0.0)

    @cached_property
    def _newest(self) -> tuple[int | None, float]:
        """Where the newest few messages begin that stay whatever sections want, and their tokens.

        None where nothing is wanted, and where the window would not keep them in an empty room.
        """
        window, view, room = self.window, self._view, self._room
        if not self._wanted or not room:
            return None, 0.0
        widest = decide(window, view, room)
        for count in NEWEST:
            since = view.log.exchanges.first(view.newest(count + 1))
            newest = filter(view.is_countable, range(since, view.count))
            tokens = self._tokens_since(since)
            if tokens <= room / 2 and all(map(widest.is_kept, newest)):
                # Where the cut can stay for a while, if a prompt cache would notice.
                most = min(tokens * (1 + NEWEST_STEP), room / 2)
                if self.fixed.most + most >= (self.plan.model.cache_minimum or 0):
                    since = max(Room(view, most).stepped_start(NEWEST_STEP, since), widest.cut)
                return since, self._tokens_since(since)
        return None, 0.0

    def _tokens_since(self, index: int) -> float:
        """Return the tokens of all messages from an index on, and of those that must stay."""
        kept = decide(self.window, self._view, 0, since=index).kept()
        return self._view.spent(kept)

    def smallest(self) -> Decisions:
        """Return the decisions that keep only what no window may drop."""
        return decide(self.window, self._view, 0)

    @property
    def _summary_room(self) -> float:
        """The tokens kept free for a summary once anything is left out.

        So the cut does not move when a summary arrives.
        """
        return self.allowance() if self.for_summary else 0

    def allowance(self) -> float:
        """Return the most tokens of a summary."""
        summary = self.plan.recipe.summary
        return min(summary.tokens, max(self.limit, 0) * SUMMARY_SHARE) if summary else 0

    def trial(
        self, decisions: Decisions, found: SummaryResult = NO_SUMMARY, tokens: float = 0
    ) -> Fitted:
        """Return the request for the kept messages, with a summary of at most `tokens`."""
        plan, relaxed = self.plan, self.relaxed
        moved_on = plan.model.bound_thinking and not all(one.static for one in relaxed.sections)
        wording = Wording(
            relaxed.volatile, moved_on, relaxed.note, relaxed.max_chars, found, tokens
        )
        drafted = draft(plan, decisions, wording)
        conversation = plan.conversation(relaxed.system, drafted.messages)
        return Fitted(self, drafted, conversation, *plan.render(conversation))

    def _decide(self, limit: float) -> Decisions:
        """Return what the window keeps within a limit, with room for what replaces the rest."""
        if self.plan.recipe.note and not self.relaxed.note:
            # With a few tokens more the note has room, and must not cost a message.
            return self.smallest()
        return self._decided(self.window, self._inside(limit))

    def _decided(self, window: Window, room: float) -> Decisions:
        """Return what a window keeps within a room for messages."""
        since, tokens = self._newest
        return decide(window, self._view, room, since=since if tokens <= room else None)

    def _inside(self, limit: float) -> float:
        """Return the tokens of a limit that messages have if some are left out."""
        return max(0, limit - self._summary_room - self.kept_free - self._note_cost)

    @cached_property
    def _note_cost(self) -> float:
        """The most tokens that a note on what is left out can take."""
        history, note = self.plan.history, self.plan.recipe.note
        message = longest_note(note, len(history)) if note and self.relaxed.note else None
        return history.stand_in_cost("longest note", message) if message else 0.0

    @cached_property
    def _whole_view(self) -> View:
        """The history as a request with every message sends it."""
        return self.plan.history.history.view()

    @cached_property
    def _view(self) -> View:
        """The history as a request sends it that does not hold all messages."""
        history = self.plan.history.history
        # Without thinking both are the same, and nothing has to be added up again.
        return history.view(whole=False) if history.log.has_thinking else self._whole_view
