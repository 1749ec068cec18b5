"""The messages of a request before rendering, with what replaces those left out."""

from __future__ import annotations

from msgspec import Struct

from contextwright.context.fitting.plan import Plan
from contextwright.context.fitting.shorten import cut_to
from contextwright.context.fitting.thinking import strip_thinking
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text
from contextwright.summaries.summary import SummaryResult
from contextwright.windows.clearing import without_media
from contextwright.windows.decisions import Decisions
from contextwright.windows.log import media_in

__all__ = ["NO_SUMMARY", "STAND_INS", "Draft", "Wording", "draft", "path_of", "summary_stop"]

NO_SUMMARY = SummaryResult()
STAND_INS = ("summary", "note")
"""The names of the messages that replace omitted ones."""


class Wording(Struct, frozen=True):
    """The content of a draft besides the messages themselves."""

    volatile: str
    """The text next to the newest question."""
    bound_thinking: bool
    """Whether thinking is bound to a system text that has changed since."""
    note: bool
    """Whether a note on what is left out has room."""
    max_chars: int | None
    """Maximum characters of texts; None if they are not cut."""
    summary: SummaryResult = NO_SUMMARY
    summary_tokens: float = 0
    """Maximum tokens of the summary."""


class Draft(Struct, frozen=True):
    """The messages of a request, in order."""

    messages: list[Message]
    places: list[int | str]
    """The index of each in the history; the note and the summary by name."""
    changes: list[Change]
    decisions: Decisions


def draft(plan: Plan, decisions: Decisions, wording: Wording) -> Draft:
    """Return the kept messages, what replaces the rest, and the volatile text."""
    changes: list[Change] = []
    inserted, decisions = stand_ins(plan, decisions, wording, changes)
    messages = decisions.messages()
    places: list[int | str] = [*decisions.kept()]
    if wording.max_chars is not None:
        cut_texts(messages, places, wording.max_chars, changes)
    beside: list[Part] = [*plan.attachments]
    if wording.volatile:
        beside.append(Text(wording.volatile))
    if beside and decisions.view.question in places:
        place = places.index(decisions.view.question)
        messages[place] = messages[place].with_parts((*messages[place].parts, *beside))
    if inserted:
        place = places.index(decisions.gap or 0)
        messages[place:place] = inserted.values()
        places[place:place] = inserted
    cap_media(plan, messages, places, changes)
    if plan.history.log.has_thinking:
        strip_thinking(messages, places, first_change(decisions, wording), plan.model, changes)
    return Draft(messages, places, changes, decisions)


def cut_texts(
    messages: list[Message], places: list[int | str], longest: int, changes: list[Change]
) -> None:
    """Cut the texts of messages to a length."""
    for place, message in enumerate(messages):
        messages[place] = cut_to(message, longest)
        if messages[place] is not message:
            reason = f"texts are cut to {longest:,} characters"
            changes.append(Change("loss.cut", path_of(places[place]), reason))


def path_of(place: int | str) -> str:
    """Return the path of a message in changes: by its index in the whole history."""
    return place if isinstance(place, str) else f"messages[{place}]"


def summary_stop(decisions: Decisions) -> int:
    """Return how many messages a summary would cover; 0 if it has no place."""
    return 0 if decisions.gap is None else decisions.cut


def stand_ins(
    plan: Plan, decisions: Decisions, wording: Wording, changes: list[Change]
) -> tuple[dict[str, Message], Decisions]:
    """Return the summary and the note that replace omitted messages, by name."""
    messages: dict[str, Message] = {}
    if not decisions.omitted:
        return messages, decisions
    summary, failure = wording.summary.summary, wording.summary.failure
    if summary is not None and decisions.gap is not None:
        kept = {index + 1 for index in decisions.kept()}
        message = plan.history.summary_message(summary.without(kept), wording.summary_tokens)
        untold = frozenset(number - 1 for number in summary.untold)
        covered = decisions.with_summary(summary.last, untold)
        if message is None:
            failure = "no room in the budget" if summary.size else "the messages hold no text"
        elif covered.summarised:
            messages["summary"], decisions = message, covered
            number = covered.summarised
            several = "message is" if number == 1 else "messages are"
            what = f"{number:,} {several} summarised by {summary.method}"
            changes.append(Change("invent.summary", "summary", what))
            if summary.text and not summary.is_whole(message):
                reason = f"it is longer than {wording.summary_tokens:,.0f} tokens"
                changes.append(Change("loss.cut", "summary", reason))
    if failure:
        changes.append(Change("loss.summary", "summary", failure))
    add_note(plan, decisions, wording, messages, changes)
    return messages, decisions


def add_note(
    plan: Plan,
    decisions: Decisions,
    wording: Wording,
    messages: dict[str, Message],
    changes: list[Change],
) -> None:
    """Add a note on messages that are left out and not summarised, if there is room."""
    note = plan.recipe.note
    if note is None:
        return
    message = note.message(decisions.omitted, decisions.view.spoken, decisions.summarised)
    if message is None:
        return
    if wording.note and decisions.gap is not None:
        messages["note"] = message
    else:
        changes.append(Change("loss.note", "note", "no room in the budget"))


def cap_media(
    plan: Plan, messages: list[Message], places: list[int | str], changes: list[Change]
) -> None:
    """Clear the oldest media until one request can hold the rest."""
    most, log = plan.history.clearing.most_media, plan.history.log
    if most is None or log.media_before(len(log.pictured)) + len(plan.attachments) <= most:
        return
    excess = sum(map(media_in, messages)) - max(most, 1)
    for place, message in enumerate(messages):
        if excess <= 0:
            return
        count = min(media_in(message), excess)
        if count:
            messages[place] = without_media(message, count)
            reason = f"one request holds at most {most:,} pieces of media"
            changes.append(Change("loss.media", path_of(places[place]), reason))
            excess -= count


def first_change(decisions: Decisions, wording: Wording) -> int | None:
    """Return the first index that differs from what later thinking was signed for; None if none.

    Models that check the system text too notice that the clock has changed.
    """
    if wording.bound_thinking:
        return -1
    return decisions.first_changed if decisions.is_changed else None
