"""Small named passes that make any history legal for a target.

A rule takes a draft (messages with their places in the input) and gives a draft and the changes
it made. They run in the order of `RULES`; each is tested alone and seen in `explain()`.
Histories that need none of them never come here: see `survey`.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.changes import Change
from contextwright.formats.rules.calls import (
    NO_RESULT,
    pair_results,
    settle_roles,
    speak_reply_tools,
    spell_errors,
    spell_ids,
    spell_tool_names,
)
from contextwright.formats.rules.draft import (
    Draft,
    Rule,
    Ruled,
    clean_name,
    rewritten,
)
from contextwright.formats.rules.foreign import (
    leave_out_foreign,
    leave_out_hidden,
)
from contextwright.formats.rules.media import (
    place_media,
)
from contextwright.formats.rules.speakers import (
    name_speakers,
    place_system,
)
from contextwright.formats.rules.turns import (
    CONTINUE,
    START,
    drop_blank,
    end_with_user,
    is_blank,
    merge_same_role,
    start_with_user,
)
from contextwright.formats.target import Target
from contextwright.messages import Message

__all__ = [
    "CONTINUE",
    "Draft",
    "NO_RESULT",
    "RULES",
    "Rule",
    "Ruled",
    "START",
    "apply_rules",
    "clean_name",
    "drop_blank",
    "end_with_user",
    "is_blank",
    "leave_out_foreign",
    "leave_out_hidden",
    "merge_same_role",
    "name_speakers",
    "pair_results",
    "place_media",
    "place_system",
    "rewritten",
    "settle_roles",
    "speak_reply_tools",
    "spell_errors",
    "spell_ids",
    "spell_tool_names",
    "start_with_user",
]


def apply_rules(messages: Iterable[Message], target: Target, rules: Iterable[Rule]) -> Ruled:
    """Run rules one after another over a conversation."""
    draft: Draft = list(enumerate(messages))
    changes: list[Change] = []
    for rule in rules:
        draft, made = rule(draft, target)
        changes.extend(made)
    return draft, changes


RULES: tuple[Rule, ...] = (
    leave_out_hidden,
    leave_out_foreign,
    settle_roles,
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
