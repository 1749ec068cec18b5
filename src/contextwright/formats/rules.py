"""Small named passes that make any history legal for a target.

A rule takes a draft (messages with their places in the input) and gives a draft and the changes
it made. They run in the order of `RULES`; each is tested alone and seen in `explain()`.
Histories that need none of them never come here: see `survey`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

import msgspec

from contextwright.changes import Change
from contextwright.exchanges import Answer, At, match_results
from contextwright.formats.media import is_mislabelled, sniffed_mime
from contextwright.formats.target import Speller, Spelling, Target
from contextwright.graphemes import cut
from contextwright.messages import (
    Author,
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

__all__ = ["RULES", "Draft", "Rule", "apply_rules", "clean_name"]

Draft: TypeAlias = list[tuple[int, Message]]
"""Messages, each with its index in the input; what is invented takes its neighbour's."""
Ruled: TypeAlias = tuple[Draft, list[Change]]
Rule: TypeAlias = Callable[[Draft, Target], Ruled]

NO_RESULT = "[no result recorded]"
START = "[start of conversation]"
CONTINUE = "[continue]"
LONGEST_NAME = 128
ANY_SPELLING = Spelling(allowed=r"\s\S")

replace = msgspec.structs.replace
Holder = TypeVar("Holder", bound=Message | Text | Thinking | ToolCall | ToolResult | Media)
SPELLINGS = {"aya": {"content", "nested", "result"}, "forge": {"raw"}}
"""Fields of a format that only keep how something was spelled: its content is in the parts."""


def apply_rules(
    messages: Iterable[Message], target: Target, rules: tuple[Rule, ...]
) -> tuple[list[Message], list[Change]]:
    """Run rules one after another over a conversation."""
    draft: Draft = list(enumerate(messages))
    changes: list[Change] = []
    for rule in rules:
        draft, made = rule(draft, target)
        changes.extend(made)
    return [message for _, message in draft], changes


# --- what may not travel ---------------------------------------------------------------------


def leave_out_hidden(draft: Draft, target: Target) -> Ruled:
    """Messages that are not public never reach a model."""
    changes = [
        Change("loss.hidden", f"messages[{place}]", f"the message is {message.visibility}")
        for place, message in draft
        if message.visibility != "public"
    ]
    if not changes:
        return draft, changes
    return [entry for entry in draft if entry[1].visibility == "public"], changes


def leave_out_foreign(draft: Draft, target: Target) -> Ruled:
    """Thinking, blocks and fields of one provider do not travel to another."""
    changes: list[Change] = []
    kept: Draft = []
    for place, message in draft:
        parts: list[Part] = []
        for index, part in enumerate(message.parts):
            if type(part) is Text and not part.extra:
                parts.append(part)  # words alone travel anywhere
                continue
            path = f"messages[{place}].parts[{index}]"
            parts.extend(travelling(part, message, target, path, changes))
        message = own_extra(message, message.role, target, f"messages[{place}]", changes)
        kept.append((place, rewritten(message, parts)))
    return kept, changes


def travelling(
    part: Part, message: Message, target: Target, path: str, changes: list[Change]
) -> list[Part]:
    """What of a part may go to the target: the part itself, words in its place, or nothing."""
    if isinstance(part, Thinking):
        may = message.role == "assistant" and target.traits.carries_thinking(part, target.model)
        if may and target.options.thinking != "drop":
            return [own_extra(part, message.role, target, path, changes)]
        changes.append(Change("loss.thinking", path, f"{target.format} may not get this thinking"))
        said = target.options.thinking == "text" and message.role == "assistant" and part.text
        return [Text(part.text)] if said else []
    if isinstance(part, Opaque):
        if part.format == target.format and target.traits.takes_extra(part, message.role, target.model):
            return [part]
        changes.append(
            Change("loss.opaque", path, f"only {part.format} knows this block; its words stay")
            if part.text
            else Change("loss.opaque", path, f"only {part.format} knows this block")
        )
        return [Text(part.text)] if part.text else []
    if isinstance(part, ToolCall) and message.role != "assistant":
        changes.append(Change("loss.call", path, f"a {message.role} message cannot call tools"))
        return []
    kept: Part = own_extra(part, message.role, target, path, changes)
    if isinstance(kept, ToolResult) and isinstance(kept.content, tuple):
        content: list[Part] = []
        for index, piece in enumerate(kept.content):
            place = f"{path}.content[{index}]"
            content.extend(travelling(piece, message, target, place, changes))
        return [with_content(kept, content)]
    return [kept]


def own_extra(
    holder: Holder, role: Role, target: Target, path: str, changes: list[Change]
) -> Holder:
    """The holder with those leftover fields only that the target has a place for."""
    if not holder.extra:
        return holder
    lost = [
        field
        for format, fields in holder.extra.items()
        if format != target.format
        for field, value in fields.items()
        if value and field not in SPELLINGS.get(format, ())  # null, false and empty say nothing
    ]
    own = {name: fields for name, fields in holder.extra.items() if name == target.format}
    kept = replace(holder, extra=own)
    if own and not target.traits.takes_extra(kept, role, target.model):
        lost.extend(own[target.format])
        kept = replace(holder, extra={})
    if lost:
        names = ", ".join(clean_name(field) for field in lost)
        changes.append(Change("loss.extra", path, f"{target.format} has no place for {names}"))
    return kept


def with_content(result: ToolResult, content: list[Part]) -> ToolResult:
    """A result with other pieces; plain words alone are a plain string."""
    if all(type(piece) is Text and not piece.extra for piece in content) and len(content) < 2:
        words = content[0].text if content and isinstance(content[0], Text) else ""
        return replace(result, content=words)
    return replace(result, content=tuple(content))


# --- calls and results -----------------------------------------------------------------------


def settle_roles(draft: Draft, target: Target) -> Ruled:
    """Results alone are the tool's message; other words in a tool's message are the user's."""
    changes: list[Change] = []
    settled: Draft = []
    for place, message in draft:
        results = sum(type(part) is ToolResult for part in message.parts)
        role = message.role
        if results and results == len(message.parts):
            role = "tool"
        elif role == "tool":
            role = "user"
        if role != message.role:
            reason = f"a {message.role} message cannot hold this; it is the {role}'s"
            changes.append(Change("repair.role", f"messages[{place}]", reason))
            message = replace(message, role=role)
        settled.append((place, message))
    return settled, changes


def speak_reply_tools(draft: Draft, target: Target) -> Ruled:
    """A tool that only carries words to people is speech; one that only ends a turn is nothing.

    Such calls never get a result. Where one did, it is a real call.
    """
    if not target.reply_tools:
        return draft, []
    matching = match_results([message for _, message in draft])
    unanswered = {
        answer.at
        for answer in matching.answers
        if answer.result is None and answer.call.name in target.reply_tools
    }
    changes: list[Change] = []
    spoken: Draft = []
    for position, (place, message) in enumerate(draft):
        parts: list[Part] = []
        for index, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and (position, index) in unanswered:
                path = f"messages[{place}].parts[{index}]"
                parts.extend(speech(part, target, path, changes))
            else:
                parts.append(part)
        spoken.append((place, rewritten(message, parts)))
    return spoken, changes


def speech(call: ToolCall, target: Target, path: str, changes: list[Change]) -> list[Part]:
    """The words of a reply tool's call."""
    argument = target.reply_tools[call.name]
    words = call.arguments.get(argument) if argument else None
    if argument and not isinstance(words, str):
        return [call]  # no words where they are said to be: an ordinary call after all
    rest = [name for name in call.arguments if name != argument]
    if rest:
        lost = ", ".join(rest)
        changes.append(Change("loss.reply_argument", path, f"{call.name} is not sent: {lost}"))
    if not isinstance(words, str):
        changes.append(Change("repair.reply_tool", path, f"{call.name} ends the turn; not sent"))
        return []
    changes.append(Change("repair.reply_tool", path, f"{call.name} is speech"))
    return [Text(words)]


def pair_results(draft: Draft, target: Target) -> Ruled:
    """Behind each message that calls, all its results and nothing else.

    Results go to their calls, missing ones are invented, orphans dropped, and what stood between
    a call and its results follows them. A history that is so already stays as it is.
    """
    if not target.options.repair:
        return draft, []
    matching = match_results([message for _, message in draft])
    moved = moved_results(draft, matching.answers)
    if not moved and not matching.orphans and all(map(is_named, matching.answers)):
        return draft, []
    changes = [
        Change("loss.orphan", f"messages[{draft[at[0]][0]}].parts[{at[1]}]", "answers no call")
        for at in matching.orphans
    ]
    changes.extend(moved)
    by_message: dict[int, list[Answer]] = {}
    for answer in matching.answers:
        by_message.setdefault(answer.at[0], []).append(answer)
    paired: Draft = []
    for position, (place, message) in enumerate(draft):
        kept = [part for part in message.parts if type(part) is not ToolResult]
        if kept or not message.parts:
            paired.append((place, rewritten(message, kept)))
        answers = by_message.get(position)
        if answers:
            answers = sorted(answers, key=lambda answer: answer.result_at or LAST)
            results = tuple(answered(answer, draft, changes) for answer in answers)
            paired.append((place, Message("tool", results)))
    return paired, changes


LAST: At = (1_000_000_000, 0)
"""Behind every place: results keep the order they came in, and invented ones follow."""


def is_named(answer: Answer) -> bool:
    """Whether call and result can be told to belong together by what they say."""
    result = answer.result
    if result is None or result.call_id != answer.call.id:
        return False
    return result.call_id is not None or result.name == answer.call.name


def moved_results(draft: Draft, answers: list[Answer]) -> list[Change]:
    """A change for each result that had something else between itself and its call."""
    spoken_before = [0]  # messages before each position that hold more than results
    for _, message in draft:
        speaks = any(type(part) is not ToolResult for part in message.parts)
        spoken_before.append(spoken_before[-1] + speaks)
    changes: list[Change] = []
    for answer in answers:
        if answer.result_at is None:
            continue
        position, index = answer.result_at
        holder = draft[position][1]
        between = spoken_before[position] - spoken_before[answer.at[0] + 1]
        misplaced = holder.role not in ("tool", "user")
        if between > 0 or misplaced or any(type(part) is not ToolResult for part in holder.parts[:index]):
            path = f"messages[{draft[position][0]}].parts[{index}]"
            changes.append(Change("repair.order", path, "moved directly behind its call"))
    return changes


def answered(answer: Answer, draft: Draft, changes: list[Change]) -> ToolResult:
    """The result of a call, with the call's id and name; invented where there is none."""
    call = answer.call
    if answer.result is not None:
        return replace(answer.result, call_id=call.id, name=call.name)
    path = f"messages[{draft[answer.at[0]][0]}].parts[{answer.at[1]}]"
    changes.append(Change("invent.result", path, f"no result of {call.name} was recorded"))
    return ToolResult(call.id, NO_RESULT, call.name, is_error=True)


def spell_ids(draft: Draft, target: Target) -> Ruled:
    """Call ids that the target allows, unique where they must be, for call and result alike."""
    matching = match_results([message for _, message in draft])
    spelling = target.traits.ids
    speller = Speller(spelling or ANY_SPELLING, otherwise="call")
    chosen: dict[str, str] = {}
    spelled: dict[At, str | None] = {}
    changes: list[Change] = []
    within: tuple[int, set[str | None]] = (-1, set())
    for answer in matching.answers:
        id = answer.call.id
        position = answer.at[0]
        if within[0] != position:
            within = (position, set())
        new = chosen.get(id) if id is not None else None
        if id is None and spelling is None:
            pass  # ids are optional here, and this call has none
        elif new is None or new in within[1] or not target.traits.reuses_ids:
            new = speller.spell(id)
            if id is not None:
                chosen.setdefault(id, new)
        within[1].add(new)
        if new != id:
            code, was = ("invent.id", "a call without id") if id is None else ("repair.id", repr(id))
            path = f"messages[{draft[position][0]}].parts[{answer.at[1]}]"
            changes.append(Change(code, path, f"{clean_name(was)} gets the id {new!r}"))
            spelled[answer.at] = new
        if answer.result_at is not None and answer.result and answer.result.call_id != new:
            spelled[answer.result_at] = new
    return with_ids(draft, spelled), changes


def with_ids(draft: Draft, ids: dict[At, str | None]) -> Draft:
    """The draft with these ids on the calls and results at these places."""
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


def spell_tool_names(draft: Draft, target: Target) -> Ruled:
    """Tool names that the target allows, the same in definitions, calls and results."""
    names = target.tool_names
    if not names:
        return draft, []
    changes = [
        Change("repair.tool_name", "tools", f"{name!r} is spelled {new!r}")
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
    """Where a result has no error flag, its words say that it is one."""
    if target.traits.error_flag:
        return draft, []
    changes: list[Change] = []
    spelled: Draft = []
    for place, message in draft:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResult) and part.is_error and not part.text.startswith("Error"):
                changes.append(
                    Change("repair.error_flag", f"messages[{place}]", "said in words: Error: …")
                )
                part = with_error_words(part)
            parts.append(part)
        spelled.append((place, rewritten(message, parts)))
    return spelled, changes


def with_error_words(result: ToolResult) -> ToolResult:
    if isinstance(result.content, tuple):
        return replace(result, content=(Text("Error:"), *result.content))
    return replace(result, content=f"Error: {result.text}")


# --- media -----------------------------------------------------------------------------------


def place_media(draft: Draft, target: Target) -> Ruled:
    """Media where the target takes them; elsewhere a marker, and the media in a user message.

    What is moved out of calls and results goes behind all results of the exchange.
    """
    changes: list[Change] = []
    placed: Draft = []
    waiting: Draft = []
    for place, message in draft:
        if waiting and not message.results:
            placed.extend(waiting)
            waiting = []
        if not holds_media(message):
            placed.append((place, message))
            continue
        moved: list[Media] = []
        parts: list[Part] = []
        for index, part in enumerate(message.parts):
            path = f"messages[{place}].parts[{index}]"
            if isinstance(part, Media):
                parts.extend(media_here(part, message, target, path, moved, changes))
            elif isinstance(part, ToolResult) and isinstance(part.content, tuple):
                parts.append(media_in_result(part, target, path, moved, changes))
            else:
                parts.append(part)
        placed.append((place, rewritten(message, parts)))
        if moved:
            note = Text(f"[media of the {message.role} message above]")
            waiting.append((place, Message("user", (note, *moved))))
    return [*placed, *waiting], changes


def holds_media(message: Message) -> bool:
    """Whether a message has media among its parts, or may have some inside its results."""
    for part in message.parts:
        kind = type(part)
        if kind is Media or (kind is ToolResult and type(part.content) is tuple):  # pyright: ignore
            return True
    return False


def media_here(
    media: Media,
    message: Message,
    target: Target,
    path: str,
    moved: list[Media],
    changes: list[Change],
) -> list[Part]:
    """Media in a message of its own role: as they are, moved to a user message, or a marker."""
    media = relabelled(media, path, changes)
    if not target.traits.carries_media(media, target.model):
        changes.append(Change("loss.media", path, f"{target.format} cannot carry {named(media)}"))
        return [Text(f"[{named(media)}]")]
    if message.role == "user" or (message.role == "assistant" and target.traits.assistant_media):
        return [media]
    changes.append(Change("repair.media", path, f"{message.role} media go in a user message"))
    moved.append(media)
    return [Text(f"[{named(media)}]")]


def media_in_result(
    result: ToolResult, target: Target, path: str, moved: list[Media], changes: list[Change]
) -> ToolResult:
    """Media inside a tool result."""
    content: list[Part] = []
    for index, piece in enumerate(result.content):
        if not isinstance(piece, Media):
            content.append(piece)  # pyright: ignore[reportArgumentType]
            continue
        place = f"{path}.content[{index}]"
        piece = relabelled(piece, place, changes)
        if not target.traits.carries_media(piece, target.model):
            changes.append(
                Change("loss.media", place, f"{target.format} cannot carry {named(piece)}")
            )
            content.append(Text(f"[{named(piece)}]"))
        elif target.traits.result_media:
            content.append(piece)
        else:
            changes.append(Change("repair.media", place, "moved behind the results"))
            moved.append(piece)
            content.append(Text(f"[{named(piece)}]"))
    return with_content(result, content)


def relabelled(media: Media, path: str, changes: list[Change]) -> Media:
    """Media whose label tells what the bytes are; providers refuse the others."""
    if not is_mislabelled(media):
        return media
    mime = sniffed_mime(media.data or "")
    changes.append(Change("repair.mime", path, f"the bytes are {mime}"))
    return replace(media, mime=mime)


def named(media: Media) -> str:
    """What kind of media this is, in a word or two."""
    return clean_name(f"{media.kind}: {media.mime}" if media.mime else media.kind)


# --- speakers and system text ----------------------------------------------------------------


def name_speakers(draft: Draft, target: Target) -> Ruled:
    """Who said it: in the field for it, else in the words, else (one speaker) not at all."""
    labels = {
        message.author.label: None
        for _, message in draft
        if message.role == "user" and message.author
    }
    if not labels:
        return draft, []
    wanted = target.options.speaker_prefix
    names: dict[str, str] = {}
    if target.traits.names and not wanted:
        names = field_names(labels)
    prefix = (len(labels) > 1 or target.traits.names) if wanted is None else wanted
    spelled: Draft = []
    for place, message in draft:
        if message.role == "user" and message.author and message.results != message.parts:
            label = message.author.label
            if label in names:
                message = replace(message, author=Author(name=names[label]))
            elif prefix:
                message = replace(prefixed(message, label), author=None)
        spelled.append((place, message))
    return spelled, author_changes(labels, names, target, prefix=prefix)


def field_names(labels: Iterable[str]) -> dict[str, str]:
    """Labels as OpenAI's `name` field takes them; those of other scripts have no such spelling."""
    speller = Speller(Spelling(longest=64), otherwise="")
    latin = [label for label in labels if any(speller.fits(letter) for letter in label)]
    return {label: speller.spell(label) for label in latin}


def author_changes(
    labels: Iterable[str], names: dict[str, str], target: Target, *, prefix: bool
) -> list[Change]:
    """What became of the speakers' names."""
    changes: list[Change] = []
    for label in labels:
        shown_as = names.get(label)
        if shown_as is not None and shown_as != label:
            reason = f"{clean_name(label)!r} is named {shown_as!r}"
            changes.append(Change("repair.author", "messages", reason))
        elif shown_as is None and prefix:
            reason = f"{clean_name(label)!r} stands before the words"
            changes.append(Change("repair.author", "messages", reason))
        elif shown_as is None:
            changes.append(Change("loss.author", "messages", f"{target.format} names no speakers"))
    return changes


def prefixed(message: Message, label: str) -> Message:
    """The message with its author's name before its first words."""
    name = clean_name(label)
    parts = list(message.parts)
    for index, part in enumerate(parts):
        if isinstance(part, Text):
            parts[index] = replace(part, text=f"{name}: {part.text}")
            return rewritten(message, parts)
    results = sum(isinstance(part, ToolResult) for part in parts)
    parts.insert(results, Text(f"{name}:"))
    return rewritten(message, parts)


def clean_name(name: str) -> str:
    """A name as one short line: no control characters, no line breaks of any kind."""
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return cut(" ".join(line.split()), LONGEST_NAME) or "unknown"


def place_system(draft: Draft, target: Target) -> Ruled:
    """System text in mid-conversation, where the target has no place for it as it stands.

    It goes directly behind the user turn it precedes: as a system message on models that take
    one, else as a note that says what it is.
    """
    if target.traits.system == "anywhere":
        return draft, []
    changes: list[Change] = []
    placed: Draft = []
    held: Draft = []
    leading = True
    for place, message in draft:
        if message.role == "system":
            (placed if leading else held).append((place, message))
            continue
        leading = False
        if message.role == "assistant" and held:
            placed.extend(system_notes(held, target, changes, placed[-1]))
            held = []
        placed.append((place, message))
    if held:
        placed.extend(system_notes(held, target, changes, placed[-1]))
    return placed, changes


def system_notes(
    held: Draft, target: Target, changes: list[Change], behind: tuple[int, Message]
) -> Draft:
    """System messages as the target can take them in mid-conversation, behind some message."""
    if target.model.mid_system and behind[1].role in ("user", "tool"):
        for place, _ in held:
            if place < behind[0]:
                changes.append(
                    Change("repair.system", f"messages[{place}]", "moved behind the user turn")
                )
        if target.faithful:
            return held
        return [(held[0][0], joined([message for _, message in held]))]
    notes: Draft = []
    for place, message in held:
        reason = f"{target.model.id} takes no system message here; a marked user note"
        changes.append(Change("repair.system", f"messages[{place}]", reason))
        parts: list[Part] = [
            replace(part, text=f"[System note: {part.text}]") if isinstance(part, Text) else part
            for part in message.parts
        ]
        notes.append((place, rewritten(replace(message, role="user", author=None), parts)))
    return notes


# --- turns -----------------------------------------------------------------------------------


def drop_blank(draft: Draft, target: Target) -> Ruled:
    """No empty text where the target refuses it, and no message without parts anywhere."""
    changes: list[Change] = []
    kept: Draft = []
    for place, message in draft:
        parts = message.parts
        if not target.traits.blank_text:
            parts = tuple(filled(part) for part in parts if not is_blank(part))
            if parts != message.parts:
                changes.append(Change("loss.blank", f"messages[{place}]", "empty text is not sent"))
        if parts:
            kept.append((place, rewritten(message, parts)))
        elif not message.parts:
            changes.append(Change("loss.blank", f"messages[{place}]", "an empty message is not sent"))
    return kept, changes


def is_blank(part: Part) -> bool:
    """Whether a part is text without words."""
    return type(part) is Text and (not part.text or part.text.isspace())


def filled(part: Part) -> Part:
    """A tool result without blank pieces."""
    if not isinstance(part, ToolResult):
        return part
    if isinstance(part.content, tuple):
        content: list[Part] = [piece for piece in part.content if not is_blank(piece)]
        return with_content(part, content) if len(content) < len(part.content) else part
    blank = isinstance(part.content, str) and part.content.isspace()
    return replace(part, content="") if blank else part


def merge_same_role(draft: Draft, target: Target) -> Ruled:
    """Join neighbours that speak with the same role; their parts stay apart."""
    if not target.traits.merges or target.faithful:
        return draft, []
    merged: Draft = []
    changes: list[Change] = []
    for place, message in draft:
        if merged and merged[-1][1].role == message.role != "system":
            merged[-1] = (merged[-1][0], joined([merged[-1][1], message]))
            if message.role != "tool":
                changes.append(Change("repair.merged", f"messages[{place}]", "joins the turn before"))
        else:
            merged.append((place, message))
    return merged, changes


def joined(messages: list[Message]) -> Message:
    """Several messages of one role as one."""
    if len(messages) == 1:
        return messages[0]
    return messages[0].with_parts(part for message in messages for part in message.parts)


def start_with_user(draft: Draft, target: Target) -> Ruled:
    """The first turn is the user's, where the target wants it so."""
    if not target.options.repair:
        return draft, []
    first = next((index for index, entry in enumerate(draft) if entry[1].role != "system"), None)
    if first is None:
        if draft and not target.traits.needs_user:
            return draft, []
        draft = [*draft, (len(draft), Message("user", (Text(START),)))]
        return draft, [Change("invent.user_turn", "messages", "there is no user turn")]
    message = draft[first][1]
    wanted = target.traits.user_first and (not target.faithful or bool(message.calls))
    if message.role == "user" or not wanted:
        return draft, []
    opening = (draft[first][0], Message("user", (Text(START),)))
    path = f"messages[{draft[first][0]}]"
    change = Change("invent.user_turn", path, f"{target.format} starts with a user turn")
    return [*draft[:first], opening, *draft[first:]], [change]


def end_with_user(draft: Draft, target: Target) -> Ruled:
    """The last turn is not the assistant's, where the model refuses to go on from it."""
    if not draft or draft[-1][1].role != "assistant" or not target.options.repair:
        return draft, []
    place, message = draft[-1]
    last = message.parts[-1]
    if type(last) is Opaque:
        return draft, []  # a hosted tool at work: the provider goes on by itself
    if target.model.prefill:
        if target.traits.final_space or type(last) is not Text or last.text == last.text.rstrip():
            return draft, []
        stripped = replace(last, text=last.text.rstrip())
        change = Change("loss.blank", f"messages[{place}]", "white space at the very end")
        return [*draft[:-1], (place, rewritten(message, (*message.parts[:-1], stripped)))], [change]
    change = Change("invent.user_turn", f"messages[{place}]", f"{target.model.id} answers a user turn")
    return [*draft, (place, Message("user", (Text(CONTINUE),)))], [change]


def rewritten(message: Message, parts: Iterable[Part]) -> Message:
    """The message with these parts; itself if they are its own."""
    parts = tuple(parts)
    return message if parts == message.parts else message.with_parts(parts)


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
