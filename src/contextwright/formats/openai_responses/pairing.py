"""Calls and outputs of Responses, which belong together by their ids, in any order."""

from __future__ import annotations

from collections.abc import Sequence

from contextwright.formats.rules import (
    RULES,
    Draft,
    Rule,
    Ruled,
    keeping,
    messages_of,
    pair_results,
    paired_before,
    path_in,
    spell_ids,
    start_with_user,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.exchanges import At, match_results
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, ToolResult
from contextwright.wire.openai_responses.rules import LONGEST_ID

__all__ = ["OWN_RULES", "STORED_RULES"]


def pair_by_id(draft: Draft, target: Target) -> Ruled:
    """Put results after their calls, unless they came from this format and are paired already."""
    if not target.same_format:
        return pair_results(draft, target)
    messages = messages_of(draft)
    if is_paired(messages):
        return draft, []
    return paired_before(first_compaction(messages), draft, target)


def spell_broken_ids(draft: Draft, target: Target) -> Ruled:
    """Make call ids legal; ids from this format that are unique stay unchanged."""
    if target.same_format and is_paired(messages_of(draft)):
        return draft, []
    return spell_ids(draft, target)


def own(rule: Rule) -> Rule:
    """Return this format's version of a rule."""
    if rule is pair_results:
        return pair_by_id
    return spell_broken_ids if rule is spell_ids else rule


OWN_RULES = tuple(map(own, RULES))


def keep_apart(draft: Draft, target: Target) -> Ruled:
    """Leave one output for each id, and give each call a legal id of its own.

    For requests that continue stored items: calls and outputs may have their partners there.
    """
    matching = match_results(messages_of(draft))
    answered: dict[str | None, At] = {}
    for answer in matching.answers:
        if answer.result_at is not None:
            answered.setdefault(answer.call.id, answer.result_at)
    repeated: set[At] = set()
    for at in matching.orphans:
        id = call_id_at(draft, at)
        if not id:
            continue  # nothing says that two of them answer one call
        answered[id] = min(answered.get(id, at), at)
        if answered[id] < at:
            repeated.add(at)
    changes = [
        Change("loss.orphan", path_in(draft, at), "another output answers this call")
        for at in sorted(repeated)
    ]
    kept = without_parts(draft, repeated) if repeated else draft
    own = [part.id for _, message in kept for part in message.calls]
    answering = [call_id_at(draft, at) for at in matching.orphans if at not in repeated]
    ids = [*own, *filter(None, answering)]
    if len(set(ids)) == len(ids) and all(id and len(id) <= LONGEST_ID for id in own):
        return kept, changes
    spelled, respelled = spell_ids(kept, target)
    return spelled, [*changes, *respelled]


def call_id_at(draft: Draft, at: At) -> str | None:
    """Return the id of the call that a result answers."""
    position, index = at
    result = draft[position][1].parts[index]
    return result.call_id if isinstance(result, ToolResult) else None


def without_parts(draft: Draft, lost: set[At]) -> Draft:
    """Return the draft without the parts at these positions."""
    kept: Draft = []
    for position, placed in enumerate(draft):
        parts = [
            (index, part)
            for index, part in enumerate(placed[1].parts)
            if (position, index) not in lost
        ]
        if parts:
            kept.append(keeping(placed, parts))
    return kept


def stored(rule: Rule) -> Rule | None:
    """Return a rule for requests that continue stored items; None if it is not for them."""
    if rule is spell_ids:
        return keep_apart
    return None if rule in (pair_results, start_with_user) else rule


STORED_RULES = tuple(filter(None, map(stored, RULES)))


def is_paired(messages: Sequence[Message]) -> bool:
    """Whether every call precedes its output, in any order, with a unique id.

    The calls of outputs after a compaction may be among what was compacted.
    """
    matching = match_results(messages)
    if matching.orphans and not all(at > first_compaction(messages) for at in matching.orphans):
        return False
    seen: set[str] = set()
    for answer in matching.answers:
        id, result = answer.call.id, answer.result
        if not id or len(id) > LONGEST_ID or id in seen:
            return False
        if result is None or result.call_id != id:
            return False
        seen.add(id)
    return True


def first_compaction(messages: Sequence[Message]) -> At:
    """Return the position of the first compacted stretch; that of the end if there is none."""
    for index, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if type(part) is Opaque and part.data.get("type") == "compaction":
                return index, place
    return len(messages), 0
