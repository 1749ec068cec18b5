"""Aya's array, written: one entry per call, arguments next to its name, numbered from 0."""

from __future__ import annotations

from typing import Any, Literal, cast

from contextwright.errors import InvalidPayload, Problem
from contextwright.formats.aya.check import NAME, REPLY_TOOLS, UNKNOWN, is_count
from contextwright.formats.base import Options, Rendered
from contextwright.formats.file_formats import ANY_NAME, Times, drafted, no_media, unsaid
from contextwright.formats.rules import (
    Draft,
    Placed,
    leave_out_foreign,
    leave_out_hidden,
    messages_of,
    path_in,
    path_to,
    place_media,
    settle_roles,
    speak_reply_tools,
    spell_tool_names,
)
from contextwright.formats.target import Traits
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.exchanges import match_results
from contextwright.messages.make import as_result
from contextwright.messages.message import Author, Message, Role
from contextwright.messages.parts import Opaque, Text, Thinking, ToolCall, ToolResult
from contextwright.models import Model

__all__ = ["Turns", "render"]

TRAITS = Traits(
    format=NAME,
    tool_names=ANY_NAME,
    names=True,
    supports_media=no_media,
    supports_thinking=lambda thinking, model: not thinking.redacted,
)
RULES = (
    leave_out_hidden,
    leave_out_foreign,
    settle_roles,
    speak_reply_tools,
    spell_tool_names,
    place_media,
)


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the array, numbered from 0."""
    draft, _, changes = drafted(conversation, TRAITS, model, options, RULES, REPLY_TOOLS)
    changes.extend(unsaid(conversation, NAME, ("reply_to",)))
    changes.extend(author_changes(draft, conversation.source))
    writer = Writer(draft, options, changes)
    entries: list[dict[str, Any]] = []
    origins: list[int] = []
    times = Times()
    turns = Turns(options)
    for position, placed in enumerate(draft):
        place, message = placed
        path = path_to(place)
        contents = writer.contents(position, placed)
        if not contents:
            continue
        time = times.of(message, f"{path}.sent_at", changes)
        turn = turns.next(message, path, changes)
        for content in contents:
            entry = {
                "index": len(entries),
                "turn": turn,
                "timestamp": time,
                "role": message.role,
                "content": content,
            }
            entries.append(with_held(entry, message, "entry"))
            origins.append(place.origin)
    return Rendered(entries, (*changes, *times.changes()), origins=tuple(origins))


def author_changes(draft: Draft, source: str | None) -> list[Change]:
    """Return one change for each speaker whose name is lost, or who has no id."""
    changes: dict[tuple[bool, Author | None], Change] = {}
    for place, message in draft:
        author, spoken = message.author, message.role == "user"
        if (spoken, author) in changes:
            continue
        path = path_to(place)
        change = None
        if author is None:
            if spoken and source != NAME:
                reason = f"no speaker is named; using <@{UNKNOWN}>"
                change = Change("invent.author", path, reason)
        elif not spoken:
            change = Change("loss.author", f"{path}.author", "aya names only users")
        elif author.id is None:
            reason = "the name is written, because there is no id"
            change = Change("repair.author", f"{path}.author", reason)
        elif author.name or author.username:
            change = Change("loss.author", f"{path}.author", "aya keeps only the id")
        if change is not None:
            changes[spoken, author] = change
    return list(changes.values())


def with_held(entry: dict[str, Any], message: Message, where: str) -> dict[str, Any]:
    """Add the entry's leftover fields to its content; never overwrite a field."""
    extra = message.extra.get(NAME, {}).get(where)
    if isinstance(extra, dict):
        for name, value in cast("dict[str, Any]", extra).items():
            if name != "toolCall":  # text must never become a call
                entry.setdefault(name, value)
    return entry


class Writer:
    """Writes the entries of each message."""

    def __init__(self, draft: Draft, options: Options, changes: list[Change]) -> None:
        self.options = options
        self.changes = changes
        self.results: dict[tuple[int, int], ToolResult] = {}
        matching = match_results(messages_of(draft))
        for answer in matching.answers:
            if answer.result is None or answer.result_at is None:
                continue
            if answer.call.name in REPLY_TOOLS:
                reason = f"aya reads a result of {answer.call.name} as an argument"
                self.lose(draft, answer.result_at, reason)
            elif options.include_results or is_recorded(answer.result):
                self.results[answer.at] = answer.result
            else:
                self.lose(draft, answer.result_at, "aya has no place for results")
        for at in matching.orphans:
            self.lose(draft, at, "answers no call")

    def lose(self, draft: Draft, at: tuple[int, int], reason: str) -> None:
        self.changes.append(Change("loss.tool_result", path_in(draft, at), reason))

    def contents(self, position: int, placed: Placed) -> list[str | dict[str, Any]]:
        """Return the `content` of each entry that a message becomes."""
        place, message = placed
        match message.role:
            case "system":
                if len(message.parts) == 1 and isinstance(message.parts[0], Opaque):
                    return [message.parts[0].data]
                return [words_in(message)]
            case "user":
                content = {"userid": userid(message.author), "text": words_in(message)}
                return [with_held(content, message, "content")]
            case "assistant":
                contents = self.assistant_contents(position, placed)
                if len(contents) > 1:
                    reason = f"one entry holds one call: {len(contents)} entries"
                    self.changes.append(Change("repair.split", path_to(place), reason))
                return list(contents)
            case "tool":
                return []

    def assistant_contents(self, position: int, placed: Placed) -> list[dict[str, Any]]:
        place, message = placed
        if is_bare(message):
            spoken = any(type(part) is Text for part in message.parts)
            content: dict[str, Any] = {"text": message.text} if spoken else {}
            return [with_held(with_reasoning(content, reasons(message)), message, "content")]
        contents: list[dict[str, Any]] = []
        waiting: list[str] = []
        for index, part in enumerate(message.parts):
            match part:
                case Thinking():
                    waiting.append(part.text)
                    continue
                case Text():
                    content = {"toolCall": "postMessage", "text": part.text}
                case ToolCall():
                    content = self.call(part, (position, index), path_to(place, index))
                case Opaque():
                    content = dict(part.data)
                case _:
                    continue
            contents.append(with_reasoning(content, waiting))
            waiting = []
        if waiting and contents:
            with_reasoning(contents[-1], waiting)
        elif waiting or not contents:
            code = "loss.thinking" if waiting else "loss.blank"
            self.changes.append(Change(code, path_to(place), "an entry needs a call or text"))
        return contents

    def call(self, call: ToolCall, at: tuple[int, int], path: str) -> dict[str, Any]:
        """Write a call, its arguments next to its name unless the names collide."""
        content: dict[str, Any] = {"toolCall": call.name}
        result = self.results.get(at)
        if call.extra.get(NAME, {}).get("nested"):
            content["arguments"] = call.arguments
        elif collides(call, result):
            if not self.options.repair:
                message = "an argument has the name of a field"
                raise InvalidPayload([Problem("aya.param_collision", path, message)])
            reason = "an argument has the name of a field; all are under `arguments`"
            self.changes.append(Change("repair.param_collision", path, reason))
            content["arguments"] = call.arguments
        else:
            content.update(call.arguments)
        if result is not None:
            content["result"] = written_result(result)
            if result.is_error or "is_error" in result.extra.get(NAME, {}):
                content["is_error"] = result.is_error
        return content


def words_in(message: Message) -> str:
    """Return the text of a message, including that of Aya's own blocks."""
    said = (part.text for part in message.parts if isinstance(part, Text | Opaque))
    return "\n".join(words for words in said if words is not None)


def is_recorded(result: ToolResult) -> bool:
    """Whether a result came from the `result` field of an Aya entry and is unchanged."""
    extra = result.extra.get(NAME, {})
    return "result" in extra and as_result(extra["result"]) == result.content


def written_result(result: ToolResult) -> Any:
    if is_recorded(result):
        return result.extra[NAME]["result"]
    return result.content if isinstance(result.content, dict) else result.text


def collides(call: ToolCall, result: ToolResult | None) -> bool:
    """Whether arguments next to the call would be read back as something else."""
    arguments = call.arguments
    if "toolCall" in arguments or "reasoning" in arguments:
        return True
    if "result" in arguments and call.name not in REPLY_TOOLS:
        return True
    if result is not None and "is_error" in arguments:
        return True
    return len(arguments) == 1 and isinstance(arguments.get("arguments"), dict)


def is_bare(message: Message) -> bool:
    """Whether an assistant entry came without a tool call and still has none."""
    kinds = {type(part) for part in message.parts}
    return "content" in message.extra.get(NAME, {}) and kinds <= {Text, Thinking}


def reasons(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Thinking)]


def with_reasoning(content: dict[str, Any], reasoning: list[str]) -> dict[str, Any]:
    """Return the content with its reasoning last, but before a result."""
    if not reasoning:
        return content
    result = {name: content.pop(name) for name in ("result", "is_error") if name in content}
    earlier = [content["reasoning"]] if "reasoning" in content else []
    content["reasoning"] = "\n".join([*earlier, *reasoning])
    content.update(result)
    return content


def userid(author: Author | None) -> str:
    """Return a speaker as a Slack mention."""
    id = (author.id or author.username or author.name) if author else UNKNOWN
    id = id or UNKNOWN
    return id if id.startswith("<@") and id.endswith(">") else f"<@{id}>"


class Turns:
    """Numbers the turns: as imported, else by a rule.

    `speaker`: a new turn whenever user and assistant alternate (0, 1, 1, 2). `exchange`: a new turn
    when a user speaks after the assistant (0, 0, 1, 1). `user`: a new turn for each user message
    (1, 1, 2).
    """

    def __init__(self, options: Options) -> None:
        self.rule: Literal["speaker", "exchange", "user"] = options.turn_rule or "speaker"
        self.recount = options.turn_rule is not None
        self.turn = 0
        self.speaker: Role | None = None

    def next(self, message: Message, path: str, changes: list[Change]) -> int:
        """Return the turn of the next message."""
        given = message.turn if is_count(message.turn) else None
        if given is not None and not self.recount:
            self.turn = given
        elif message.role != "system":
            self.turn += self.steps(message.role)
        if message.role != "system":
            self.speaker = message.role
        if given is not None and given != self.turn:
            reason = f"turn {given} is renumbered to {self.turn}"
            changes.append(Change("repair.turn", f"{path}.turn", reason))
        return self.turn

    def steps(self, role: Role) -> bool:
        """Whether the next message begins a turn."""
        match self.rule:
            case "speaker":
                return self.speaker not in (None, role)
            case "exchange":
                return self.speaker == "assistant" and role == "user"
            case "user":
                return role == "user"
