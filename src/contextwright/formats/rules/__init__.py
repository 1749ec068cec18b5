"""Small named passes that make any history legal for a target.

A rule takes a draft (messages with their places in the input) and returns a draft and the changes
it made. Rules run in the order of `RULES`; each is tested alone and appears in `explain()`. Next to
each rule is a function that tells whether a history needs it; `formats/legalise.py` checks them all
in one pass, because most histories need none.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.formats.rules.cache_marks import tool_with_cache_mark
from contextwright.formats.rules.calls import (
    NO_RESULT,
    OpenCalls,
    pair_results,
    paired_before,
    settle_roles,
    spell_errors,
    spell_tool_names,
)
from contextwright.formats.rules.draft import (
    Draft,
    Place,
    Placed,
    Rule,
    Ruled,
    clean_name,
    is_plain_text,
    keeping,
    messages_of,
    path_in,
    path_to,
    rewritten,
)
from contextwright.formats.rules.foreign import (
    extra_fits,
    leave_out_foreign,
    leave_out_hidden,
    opaque_fits,
    thinking_fits,
)
from contextwright.formats.rules.ids import part_repeated_ids, spell_ids
from contextwright.formats.rules.media import media_fits, place_media
from contextwright.formats.rules.reply_tools import speak_reply_tools
from contextwright.formats.rules.speakers import Speakers, name_fits, name_speakers, place_system
from contextwright.formats.rules.turns import (
    CONTINUE,
    START,
    drop_blank,
    end_with_user,
    ends_well,
    has_turn,
    is_blank,
    merge_same_role,
    roles_after,
    start_with_user,
    wants_user,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message

__all__ = [
    "CONTINUE",
    "Draft",
    "NO_RESULT",
    "OpenCalls",
    "Place",
    "Placed",
    "RULES",
    "Rule",
    "Ruled",
    "START",
    "Speakers",
    "apply_rules",
    "clean_name",
    "drop_blank",
    "end_with_user",
    "ends_well",
    "extra_fits",
    "has_turn",
    "is_blank",
    "is_plain_text",
    "keeping",
    "leave_out_foreign",
    "leave_out_hidden",
    "media_fits",
    "merge_same_role",
    "messages_of",
    "name_fits",
    "name_speakers",
    "opaque_fits",
    "pair_results",
    "paired_before",
    "part_repeated_ids",
    "path_in",
    "path_to",
    "place_media",
    "place_system",
    "rewritten",
    "roles_after",
    "settle_roles",
    "speak_reply_tools",
    "spell_errors",
    "spell_ids",
    "spell_tool_names",
    "start_with_user",
    "thinking_fits",
    "tool_with_cache_mark",
    "wants_user",
]


def apply_rules(
    messages: Iterable[Message], target: Target, rules: Iterable[Rule], *, start: int = 0
) -> Ruled:
    """Run rules in order over a conversation, or over its messages from index `start` on."""
    draft: Draft = [(Place(index), message) for index, message in enumerate(messages, start)]
    changes: list[Change] = []
    for rule in rules:
        draft, made = rule(draft, target)
        changes.extend(made)
    return draft, changes


RULES: tuple[Rule, ...] = (
    leave_out_hidden,
    leave_out_foreign,
    settle_roles,
    part_repeated_ids,
    speak_reply_tools,
    pair_results,
    spell_ids,
    spell_tool_names,
    spell_errors,
    place_media,
    drop_blank,
    name_speakers,
    place_system,
    merge_same_role,
    start_with_user,
    end_with_user,
)
