"""Rules for the ids of calls: legal for the target, and one for each call."""

from __future__ import annotations

from itertools import groupby

from contextwright.errors import shown
from contextwright.formats.rules.draft import (
    Draft,
    Ruled,
    clean_name,
    messages_of,
    path_in,
    replace,
)
from contextwright.formats.target import Speller, Spelling, Target
from contextwright.messages.changes import Change
from contextwright.messages.exchanges import Answer, At, match_results
from contextwright.messages.parts import Part, ToolCall, ToolResult

__all__ = ["part_repeated_ids", "spell_ids"]

ANY_SPELLING = Spelling(allowed=r"\s\S")


def part_repeated_ids(draft: Draft, target: Target) -> Ruled:
    """Give calls of several messages that have one id ids of their own, if several results follow.

    The results then answer them in order. One result alone answers the last of them.
    """
    ids = [part.id for _, message in draft for part in message.calls]
    if not target.options.repair or len(set(ids)) == len(ids):
        return draft, []
    speller = Speller(ANY_SPELLING, otherwise="call")
    ids.extend(part.call_id for _, message in draft for part in message.results)
    speller.taken.update(id for id in ids if id is not None)
    spelled: dict[At, str | None] = {}
    changes: list[Change] = []
    for id, calls, results in repeated_ids(draft):
        for call, result in list(zip(calls[-len(results) :], results, strict=False))[1:]:
            new = spelled[call] = spelled[result] = speller.spell(id)
            reason = f"{clean_name(repr(id))} gets the id {shown(new)}"
            changes.append(Change("repair.id", path_in(draft, call), reason))
    return with_ids(draft, spelled), changes


def repeated_ids(draft: Draft) -> list[tuple[str, list[At], list[At]]]:
    """Return calls of several messages that have one id, and the results after all of them."""
    found: list[tuple[str, list[At], list[At]]] = []
    latest: dict[str, tuple[list[At], list[At]]] = {}
    for position, (_, message) in enumerate(draft):
        for index, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant" and part.id is not None:
                if part.id not in latest or latest[part.id][1]:
                    latest[part.id] = [], []
                    found.append((part.id, *latest[part.id]))
                latest[part.id][0].append((position, index))
            elif type(part) is ToolResult and part.call_id in latest:
                latest[part.call_id][1].append((position, index))
    return [
        (id, calls, results)
        for id, calls, results in found
        if len(results) > 1 and calls[0][0] != calls[-1][0]
    ]


def spell_ids(draft: Draft, target: Target) -> Ruled:
    """Make call ids legal for the target, and unique where required, in calls and results."""
    ids = CallIds(target)
    spelled: dict[At, str | None] = {}
    changes: list[Change] = []
    matching = match_results(messages_of(draft))
    if not ids.reuses:  # results of calls that the provider stores keep their ids to themselves
        for position, index in matching.orphans:
            orphan = draft[position][1].parts[index]
            if isinstance(orphan, ToolResult) and orphan.call_id is not None:
                ids.speller.taken.add(orphan.call_id)
    for _, group in groupby(matching.answers, key=lambda answer: answer.at[0]):
        parallel = list(group)
        for answer, new in zip(parallel, ids.spell(parallel), strict=True):
            id = answer.call.id
            if new != id:
                code = "invent.id" if id is None else "repair.id"
                was = "a call without id" if id is None else clean_name(repr(id))
                path = path_in(draft, answer.at)
                changes.append(Change(code, path, f"{was} gets the id {shown(new)}"))
                spelled[answer.at] = new
            result = answer.result
            if answer.result_at is None or result is None or result.call_id == new:
                continue
            if result.call_id is None and ids.optional and target.same_format:
                continue  # its turn tells its call
            spelled[answer.result_at] = new
    return with_ids(draft, spelled), changes


class CallIds:
    """The ids assigned so far. A repeated id keeps its spelling where the target allows it."""

    def __init__(self, target: Target) -> None:
        self.optional = target.traits.ids is None
        self.same_format = target.same_format
        self.reuses = target.traits.reuses_ids
        self.speller = Speller(target.traits.ids or ANY_SPELLING, otherwise="call")
        self.chosen: dict[str, str] = {}

    def spell(self, parallel: list[Answer]) -> list[str | None]:
        """Return the ids of the calls of one message, all different."""
        ids: list[str | None] = []
        for answer in parallel:
            id = answer.call.id
            if self.optional and (id is None or (self.same_format and not id)):
                ids.append(id)
                continue
            new = self.chosen.get(id) if id is not None else None
            if new is None or new in ids or not self.reuses:
                new = self.speller.spell(id)
                if id is not None:
                    self.chosen.setdefault(id, new)
            ids.append(new)
        return ids


def with_ids(draft: Draft, ids: dict[At, str | None]) -> Draft:
    """Return the draft with these ids on the calls and results at these positions."""
    positions = {position for position, _ in ids}
    written: Draft = []
    for position, (place, message) in enumerate(draft):
        if position in positions:
            parts: list[Part] = []
            for index, part in enumerate(message.parts):
                if (position, index) not in ids:
                    parts.append(part)
                elif isinstance(part, ToolResult):
                    parts.append(replace(part, call_id=ids[position, index]))
                elif isinstance(part, ToolCall):
                    parts.append(replace(part, id=ids[position, index]))
            message = message.with_parts(parts)
        written.append((place, message))
    return written
