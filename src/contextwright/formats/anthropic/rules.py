"""Rules for Anthropic alone: sources with text, hosted calls in pairs, requests of a thread."""

from __future__ import annotations

from contextwright.formats.anthropic.read import NAME
from contextwright.formats.rules import (
    RULES,
    Draft,
    Rule,
    Ruled,
    end_with_user,
    keeping,
    leave_out_foreign,
    pair_results,
    path_to,
    start_with_user,
    wants_user,
)
from contextwright.formats.rules.draft import replace, with_content
from contextwright.formats.settings import put
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.exchanges import At
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, ToolResult
from contextwright.wire.anthropic.blanks import blank_inside, inner_blocks, is_blank
from contextwright.wire.anthropic.turns import SERVER_CALLS, continues_thread
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import Object

__all__ = ["rules_for"]


def pair_hosted(draft: Draft, target: Target) -> Ruled:
    """Drop hosted calls without a result and results without a call; keep their text.

    The newest call may be open, because the provider continues it as long as only results of the
    caller's own tools follow.
    """
    changes: list[Change] = []
    # A block that is dropped may be the one that another waits for.
    while target.options.repair and (lost := unpaired(draft, target)):
        draft = without_blocks(draft, lost, changes)
    return draft, changes


def without_blocks(draft: Draft, lost: dict[At, str], changes: list[Change]) -> Draft:
    """Return the draft without these hosted blocks; their text stays."""
    paired: Draft = []
    for position, (place, message) in enumerate(draft):
        parts: list[tuple[int, Part]] = []
        for index, part in enumerate(message.parts):
            reason = lost.get((position, index))
            if reason is None or not isinstance(part, Opaque):
                parts.append((index, part))
                continue
            changes.append(Change("loss.opaque", path_to(place, index), reason))
            if part.text:
                parts.append((index, Text(part.text)))
        if parts:
            paired.append(keeping((place, message), parts))
    return paired


def unpaired(draft: Draft, target: Target) -> dict[At, str]:
    """Return the positions of hosted blocks without a partner, with the reason."""
    lost: dict[At, str] = {}
    called: dict[str, tuple[int, At]] = {}
    turn, last_spoken = 0, -1
    last: Message | None = None
    for position, (_, message) in enumerate(draft):
        if not message.parts:
            continue  # nothing is left of it, so it will not be sent
        turn += last is None or side_of(message) != side_of(last)
        last = message
        for index, part in enumerate(message.parts):
            if not isinstance(part, ToolResult):
                last_spoken = turn
            if not isinstance(part, Opaque) or part.format != NAME:
                continue
            kind, id = str(part.data.get("type")), part.data.get("id")
            if kind in SERVER_CALLS and isinstance(id, str):
                called[id] = (turn, (position, index))
            elif kind.endswith("_tool_result"):
                if called.pop(str(part.data.get("tool_use_id")), None) is None:
                    lost[position, index] = "a hosted tool's result without its call"
    if last is not None and last.role == "assistant" and wants_user(last, target):
        last_spoken = turn + 1  # a user turn will be added
    for at_turn, at in called.values():
        if last_spoken > at_turn:
            lost[at] = "a hosted call that never got its result"
    return lost


def side_of(message: Message) -> str:
    """Return the role of the turn that a message is part of."""
    return "user" if message.role == "tool" else message.role


def fill_sources(draft: Draft, target: Target) -> Ruled:
    """Leave blank blocks out of search results and documents, and those that hold nothing else."""
    changes: list[Change] = []
    filled: Draft = []
    for place, message in draft:
        parts: list[tuple[int, Part]] = []
        for index, part in enumerate(message.parts):
            kept = part
            if isinstance(part, ToolResult) and isinstance(part.content, tuple):
                pieces = [with_text(piece) for piece in part.content]
                if pieces != [*part.content]:
                    kept = with_content(part, [piece for piece in pieces if piece is not None])
            elif isinstance(part, Opaque):
                kept = with_text(part)
            if kept is not None:
                parts.append((index, kept))
            if kept != part:
                reason = "empty texts of a source are not sent"
                changes.append(Change("loss.blank", path_to(place, index), reason))
        filled.append(keeping((place, message), parts))
    return filled, changes


def with_text(part: Part) -> Part | None:
    """Return a search result or document without blank blocks; None if there are no others."""
    if not isinstance(part, Opaque) or part.format != NAME or not any(blank_inside("", part.data)):
        return part
    place, held = inner_blocks(part.data)
    kept = [block for _, block in objects_in(held) if not is_blank(block.get("text"))]
    if not kept:
        return Text(part.text) if part.text else None
    data = dict(part.data)
    put(data, place, kept)
    return replace(part, data=data)


PAIRING, ENDED = RULES.index(leave_out_foreign) + 1, RULES.index(end_with_user) + 1
ANTHROPIC_RULES: tuple[Rule, ...] = (
    fill_sources,
    *RULES[:PAIRING],
    pair_hosted,
    *RULES[PAIRING:ENDED],
    pair_hosted,  # a call that was open at the end may have a user turn behind it now
    *RULES[ENDED:],
)
THREAD_RULES = tuple(
    rule for rule in ANTHROPIC_RULES if rule not in (pair_hosted, pair_results, start_with_user)
)
"""For requests that continue a thread, where calls and results may have their partners."""
RETRY_RULES = tuple(rule for rule in ANTHROPIC_RULES if rule is not end_with_user)
"""For the retry of a refused request, which may end in what was streamed before the refusal."""


def rules_for(settings: Object) -> tuple[Rule, ...]:
    """Return the rules for a request with these settings."""
    if continues_thread(settings):
        return THREAD_RULES
    return RETRY_RULES if settings.get("fallback_credit_token") else ANTHROPIC_RULES
