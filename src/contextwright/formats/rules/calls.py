"""Rules for calls and results: pairs, names, errors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby

from contextwright.errors import shown
from contextwright.formats.rules.draft import (
    Draft,
    Place,
    Placed,
    Ruled,
    clean_name,
    keeping,
    messages_of,
    path_in,
    path_to,
    replace,
    rewritten,
)
from contextwright.formats.rules.foreign import extra_fits
from contextwright.formats.rules.media import piece_fits
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.exchanges import Answer, At, match_results
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Part, Text, ToolCall, ToolResult

__all__ = [
    "NO_RESULT",
    "OpenCalls",
    "pair_results",
    "paired_before",
    "settle_roles",
    "spell_errors",
    "spell_tool_names",
]

NO_RESULT = "[no result recorded]"


def settle_roles(draft: Draft, target: Target) -> Ruled:
    """Give results alone the role `tool`, and other content of a tool message the role `user`."""
    changes: list[Change] = []
    settled: Draft = []
    for place, message in chain.from_iterable(map(apart_from_results, draft)):
        role = message.role
        if message.only_results:
            role = "tool"
        elif role == "tool":
            role = "user"
        if role != message.role:
            reason = f"a message of the {message.role} cannot hold this; it is the {role}'s"
            changes.append(Change("repair.role", path_to(place), reason))
            message = replace(message, role=role)
        settled.append((place, message))
    return settled, changes


def apart_from_results(placed: Placed) -> Sequence[Placed]:
    """Part an assistant's message from results of its own calls: of tools that a host ran."""
    parts = placed[1].parts
    calls = {part.id for part in parts if type(part) is ToolCall}
    if not calls or all(type(part) is not ToolResult for part in parts):
        return (placed,)

    def is_answer(numbered: tuple[int, Part]) -> bool:
        part = numbered[1]
        return type(part) is ToolResult and part.call_id in calls

    return [keeping(placed, list(run)) for _, run in groupby(enumerate(parts), key=is_answer)]


def pair_results(draft: Draft, target: Target) -> Ruled:
    """Put all results of a message's calls directly after it, and nothing else between.

    Moves results to their calls, invents missing ones, drops orphans, and moves what was between a
    call and its results after them. A history in that order is unchanged. So is one that the
    target's API itself pairs by turn, because separating its parallel calls would make them several
    steps.
    """
    if target.same_format and target.traits.pairs_by_turn and is_paired_by_turn(draft):
        return draft, []
    return paired_before(LAST, draft, target)


def paired_before(end: At, draft: Draft, target: Target) -> Ruled:
    """Pair results as `pair_results` does; orphans after `end` stay where they are."""
    if not target.options.repair:
        return draft, []
    matching = match_results(messages_of(draft))
    lost = [at for at in matching.orphans if at < end]
    stays = set(matching.orphans).difference(lost)
    moved = moved_results(draft, matching.answers)
    if not moved and not lost and all(map(is_named, matching.answers)):
        return draft, []
    changes = [Change("loss.orphan", path_in(draft, at), "answers no call") for at in lost]
    changes.extend(moved)
    by_message: dict[int, list[Answer]] = {}
    for answer in matching.answers:
        by_message.setdefault(answer.at[0], []).append(answer)
    paired: Draft = []
    for position, (place, message) in enumerate(draft):
        parts = message.parts
        kept = [
            (index, part)
            for index, part in enumerate(parts)
            if type(part) is not ToolResult or (position, index) in stays
        ]
        if len(kept) == len(parts):
            paired.append((place, message))
        elif kept:
            paired.append(keeping((place, message), kept))
        answers = by_message.get(position)
        if answers:
            answers = sorted(answers, key=lambda answer: answer.result_at or LAST)
            sources = [answer.result_at or answer.at for answer in answers]
            place = Place(place.origin, tuple(draft[at][0].part(n) for at, n in sources))
            results = tuple(answered(answer, draft, changes) for answer in answers)
            paired.append((place, Message("tool", results)))
    return paired, changes


def is_paired_by_turn(draft: Draft) -> bool:
    """Whether all calls of each model turn are answered at the start of the next turn."""
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    previous, spoken = "", False
    for _, message in draft:
        side = "model" if message.role == "assistant" else "user"
        if side != previous:
            if side == "model":
                if not is_answered(calls, results):
                    return False
                calls = []
            results, previous, spoken = [], side, False
        for part in message.parts:
            if type(part) is ToolCall:
                calls.append(part)
            elif type(part) is not ToolResult:
                spoken = True
            elif spoken or side == "model":
                return False
            else:
                results.append(part)
    return is_answered(calls, results)


def is_answered(calls: list[ToolCall], results: list[ToolResult]) -> bool:
    """Whether these are the results of these calls, one each."""
    if len(calls) != len(results):
        return False
    given = sorted(call.id for call in calls if call.id is not None)
    if len(set(given)) != len(given):
        return False
    if given != sorted(result.call_id for result in results if result.call_id is not None):
        return False
    if given:
        return True
    named = sorted(call.name for call in calls)
    return named == sorted(result.name or "" for result in results)


LAST: At = (1_000_000_000, 0)
"""A position after all others: results keep their order, and invented ones follow."""


def is_named(answer: Answer) -> bool:
    """Whether an id or name shows that call and result belong together."""
    result = answer.result
    if result is None or result.call_id != answer.call.id:
        return False
    return result.call_id is not None or result.name == answer.call.name


def moved_results(draft: Draft, answers: list[Answer]) -> list[Change]:
    """Return a change for each result that was not directly after its call."""
    spoken_before = [0]  # number of messages before each position that hold more than results
    for _, message in draft:
        speaks = any(type(part) is not ToolResult for part in message.parts)
        spoken_before.append(spoken_before[-1] + speaks)
    changes: list[Change] = []
    for answer in answers:
        if answer.result_at is None:
            continue
        position, index = answer.result_at
        _, holder = draft[position]
        between = spoken_before[position] - spoken_before[answer.at[0] + 1]
        misplaced = holder.role not in ("tool", "user")
        if (
            between > 0
            or misplaced
            or any(type(part) is not ToolResult for part in holder.parts[:index])
        ):
            path = path_in(draft, answer.result_at)
            changes.append(Change("repair.order", path, "moved directly after its call"))
    return changes


def answered(answer: Answer, draft: Draft, changes: list[Change]) -> ToolResult:
    """Return the result of a call with the call's id and name; invent it if missing."""
    call = answer.call
    if answer.result is not None:
        return replace(answer.result, call_id=call.id, name=call.name)
    path = path_in(draft, answer.at)
    reason = f"no result of {clean_name(call.name)} was recorded"
    changes.append(Change("invent.result", path, reason))
    return ToolResult(call.id, NO_RESULT, call.name, is_error=True)


def spell_tool_names(draft: Draft, target: Target) -> Ruled:
    """Make tool names legal for the target, the same in definitions, calls and results."""
    names = target.tool_names
    if not names:
        return draft, []
    changes = [
        Change("repair.tool_name", "tools", f"{shown(name)} is sent as {shown(new)}")
        for name, new in names.items()
    ]
    spelled: Draft = []
    for place, message in draft:
        parts: list[Part] = [
            replace(part, name=names[part.name])
            if isinstance(part, ToolCall | ToolResult) and part.name in names
            else part
            for part in message.parts
        ]
        spelled.append((place, rewritten(message, parts)))
    return spelled, changes


def spell_errors(draft: Draft, target: Target) -> Ruled:
    """Mark errors in a result's text if the target has no error flag."""
    if target.traits.error_flag:
        return draft, []
    changes: list[Change] = []
    spelled: Draft = []
    for place, message in draft:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResult) and part.is_error and not part.text.startswith("Error"):
                changes.append(
                    Change("repair.error_flag", path_to(place), "marked in the text: Error: …")
                )
                part = with_error_words(part)
            parts.append(part)
        spelled.append((place, rewritten(message, parts)))
    return spelled, changes


def with_error_words(result: ToolResult) -> ToolResult:
    if isinstance(result.content, tuple):
        return replace(result, content=(Text("Error:"), *result.content))
    return replace(result, content=f"Error: {result.text}")


# --- whether a history needs these rules -----------------------------------------------------


class OpenCalls:
    """The calls so far while reading a history: the open ones, all ids and all names."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.traits = target.traits
        self.pending: set[str] = set()
        self.ids: set[str] = set()
        self.names: set[str] = set()

    def takes_call(self, call: ToolCall) -> bool:
        """Whether a call can be written as it is; it then waits for its result."""
        id = call.id
        if not id or id in self.pending:
            return False
        if id in self.ids and not self.traits.reuses_ids:
            return False
        self.pending.add(id)
        self.ids.add(id)
        self.names.add(call.name)
        return True

    def takes_result(self, result: ToolResult, role: Role) -> bool:
        """Whether a result answers an open call and can be written as it is."""
        traits = self.traits
        if result.call_id not in self.pending:
            return False
        self.pending.remove(result.call_id)
        if result.is_error and not traits.error_flag:
            return False
        if result.extra and not extra_fits(result, role, self.target):
            return False
        content = result.content
        if isinstance(content, str):
            if not content and result.is_error:
                return traits.blank_errors
            return traits.blank_text or not content.isspace()
        if isinstance(content, dict):
            return True
        return all(piece_fits(piece, role, self.target) for piece in content)

    def are_legal(self) -> bool:
        """Whether every call has its result, and names and ids are legal."""
        traits = self.traits
        if self.pending or (traits.ids is not None and not all(map(traits.ids.fits, self.ids))):
            return False
        return all(map((traits.call_names or traits.tool_names).fits, self.names))
