"""Port 42: a session file `{id, agent, messages: [{role, content, timestamp}]}`.

The file holds only text. Calls and results from other formats are written as text in assistant
messages, as Port 42 itself does. The agent's prompt is not in the file: it is in `agents.json` and
is sent as system text (see `contextwright.formats.port42.agents`).
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Literal, cast

from contextwright.errors import Problem, require, shown
from contextwright.formats.base import Format, Options, Rendered, keep_extra, without
from contextwright.formats.file_formats import (
    ANY_NAME,
    Times,
    drafted,
    iso_time,
    no_media,
    unsaid,
    words_of,
)
from contextwright.formats.port42.agents import Agents
from contextwright.formats.reader import Reader, misshapen, plain
from contextwright.formats.rules import (
    Placed,
    drop_blank,
    leave_out_foreign,
    leave_out_hidden,
    name_speakers,
    path_to,
    place_media,
    settle_roles,
    speak_reply_tools,
)
from contextwright.formats.target import Traits
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, as_conversation, replaced
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text, ToolCall, ToolResult
from contextwright.models import Model
from contextwright.wire.shapes import json_problems

__all__ = ["FORMAT", "agent_of", "instructed"]

NAME = "port42"
ROLES = ("user", "assistant", "system")
FIELDS = ("role", "content", "timestamp")
AGENT_MARK = "port42.agent"
"""Key in `Message.meta` of a system message: the agent whose prompt it is. It is not stored."""
NO_AGENT = "@ai-assistant"
STORE = "contextwright"
"""Key in `Conversation.extra` of what a store knows about a conversation."""

TRAITS = Traits(
    format=NAME, tool_names=ANY_NAME, blank_text=True, error_flag=True, supports_media=no_media
)
RULES = (
    leave_out_hidden,
    leave_out_foreign,
    settle_roles,
    speak_reply_tools,
    place_media,
    drop_blank,
)


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a session file."""
    if not isinstance(data, dict):
        raise misshapen("port42", "a session object", data)
    session = cast("dict[str, Any]", data)
    reader = Reader(NAME, strict=strict)
    for field in ("id", "agent", "messages"):
        if session.get(field) is None:
            reader.repair(f"repair.{field}", field, "required field is missing")
    reader.optional_text(session, "agent")
    messages = [
        message_of(message, path, reader) for path, message in reader.objects(session, "messages")
    ]
    metadata = session.get("metadata")
    model = cast("dict[str, Any]", metadata).get("model") if isinstance(metadata, dict) else None
    rest = {name: value for name, value in session.items() if name not in ("id", "messages")}
    return Conversation(
        tuple(messages),
        model=plain(model, str) or None,
        id=reader.optional_text(session, "id"),
        source=NAME,
        extra=keep_extra(NAME, rest),
        changes=reader.finish(),
    )


def message_of(message: dict[str, Any], path: str, reader: Reader) -> Message:
    """Read one stored message. Its text stays text, even if it looks like JSON."""
    role = message.get("role")
    if role not in ROLES:
        reader.fault(f"{path}.role", f"{shown(role)} is not one of: {', '.join(ROLES)}")
    rest = {name: value for name, value in message.items() if name not in FIELDS}
    return Message(
        cast("Literal['user', 'assistant', 'system']", role),
        (Text(words_of(message.get("content"), f"{path}.content", reader)),),
        sent_at=time_of(message, path, reader),
        extra=keep_extra(NAME, rest),
    )


def time_of(message: dict[str, Any], path: str, reader: Reader) -> str | None:
    """Read the time, in any spelling."""
    value = message.get("timestamp")
    if isinstance(value, str) and value:
        return value
    wrong = f"{shown(value)} is not a time" if "timestamp" in message else "is missing"
    reader.repair("loss.timestamp", f"{path}.timestamp", wrong)
    return None


def instructed(
    conversation: Conversation, agents: Agents, *, name: str | None = None
) -> Conversation:
    """Return the conversation with its agent's instructions as leading system text.

    `name` defaults to the agent that the session names. Instructions that already lead the
    conversation are replaced; a session file never stores them.
    """
    conversation = as_conversation(conversation)
    require(agents, Agents, "agents", "parse_agents reads agents.json")
    require(name, str | None, "the name of an agent")
    named = agent_of(conversation) if name is None else name
    if not isinstance(named, str):
        reason = "the session has no agent, so it gets no instructions"
        return changed(conversation, Change("repair.agent", "agent", reason))
    agent = agents.find(named)
    message = Message("system", (Text(agent.system_text),), meta={AGENT_MARK: agent.key})
    rest = [one for one in conversation.messages if AGENT_MARK not in one.meta]
    conversation = replaced(conversation, messages=(message, *rest))
    if agent.known:
        return conversation
    reason = f"agents.json has no {shown(named)}; known: {', '.join(agents.agents) or 'none'}"
    return changed(conversation, Change("invent.agent", "agent", reason))


def agent_of(conversation: Conversation) -> Any:
    """Return the agent that a session or its store names; None if neither does."""
    return with_own_agent(conversation).extra.get(NAME, {}).get("agent")


def with_own_agent(conversation: Conversation) -> Conversation:
    """Return the conversation with the agent of its store as the session's own."""
    about = conversation.extra.get(STORE, {})
    if not isinstance(about.get("agent"), str):
        return conversation
    session = {**conversation.extra.get(NAME, {}), "agent": about["agent"]}
    extra = {**conversation.extra, STORE: without(about, "agent"), NAME: session}
    return replaced(conversation, extra=extra)


def changed(conversation: Conversation, change: Change) -> Conversation:
    return replaced(conversation, changes=(*conversation.changes, change))


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the session file."""
    conversation = with_own_agent(conversation)
    draft, target, changes = drafted(conversation, TRAITS, model, options, RULES)
    draft, named = name_speakers(draft, target)
    changes.extend(named)
    changes.extend(unsaid(conversation, NAME, ("reply_to", "turn")))
    times = Times()
    called = {call.id: call.name for _, message in draft for call in message.calls}
    messages: list[dict[str, Any]] = []
    origins: list[int] = []
    for placed in draft:
        place, message = placed
        if message.role == "system" and AGENT_MARK in message.meta:
            continue
        path = path_to(place)
        own = message.sent_at if target.same_format else None
        entry = {
            "role": "assistant" if message.role == "tool" else message.role,
            "content": content_of(placed, called, changes),
            "timestamp": own or times.of(message, f"{path}.sent_at", changes),
        }
        for name, value in message.extra.get(NAME, {}).items():
            entry.setdefault(name, value)
        messages.append(entry)
        origins.append(place.origin)
    changes.extend(times.changes())
    session = session_of(conversation, messages, changes)
    return Rendered(session, tuple(changes), origins=tuple(origins))


def content_of(placed: Placed, called: dict[str | None, str], changes: list[Change]) -> str:
    """Return the text of a message; calls and results become text, reported as changes."""
    words: list[str] = []
    place, message = placed
    for index, part in enumerate(message.parts):
        if isinstance(part, ToolCall | ToolResult):
            reason = "port42 keeps only text: written as text"
            changes.append(Change("loss.structure", path_to(place, index), reason))
        words.append(words_in(part, called))
    return "\n\n".join(words)


def words_in(part: Part, called: dict[str | None, str]) -> str:
    match part:
        case ToolCall():
            return f"[called {part.name}: {part.json}]"
        case ToolResult():
            what = "error" if part.is_error else "result"
            name = part.name or called.get(part.call_id, "a tool")
            return f"[{what} of {name}]\n{part.text}"
        case Text():
            return part.text
        case _:  # the rules have removed thinking, media and blocks
            return ""


def session_of(
    conversation: Conversation, messages: list[dict[str, Any]], changes: list[Change]
) -> dict[str, Any]:
    """Return the file with the messages; `id` and `agent` are required."""
    extra = conversation.extra.get(NAME, {})
    id, agent = conversation.id, extra.get("agent")
    if id is None:
        id = f"session-{sha256(json.dumps(messages).encode()).hexdigest()[:12]}"
        changes.append(Change("invent.id", "id", f"a session needs one; using {id}"))
    if not isinstance(agent, str):
        agent = NO_AGENT
        changes.append(Change("invent.agent", "agent", f"a session needs one; using {agent}"))
    rest = {name: value for name, value in extra.items() if name not in ("id", "agent", "messages")}
    return {"id": id, "agent": agent, "messages": messages, **rest}


# --- checking --------------------------------------------------------------------------------


def check(payload: Any, model: Model | None = None) -> list[Problem]:
    """List every rule of the file that a payload breaks."""
    if not isinstance(payload, dict):
        return [Problem("p42.session", "", f"must be an object, not {shown(payload)}")]
    session = cast("dict[str, Any]", payload)
    problems = [
        Problem(f"p42.{name}", name, f"must be a string, not {shown(session.get(name))}")
        for name in ("id", "agent")
        if not isinstance(session.get(name), str)
    ]
    messages = session.get("messages")
    if not isinstance(messages, list):
        problems.append(Problem("p42.messages", "messages", "must be a list of messages"))
        messages = []
    for index, message in enumerate(cast("list[Any]", messages)):
        problems.extend(message_problems(message, f"messages[{index}]"))
    return [*problems, *json_problems(session)]


def message_problems(entry: Any, path: str) -> list[Problem]:
    """Check one stored message."""
    if not isinstance(entry, dict):
        return [Problem("p42.message", path, f"must be an object, not {shown(entry)}")]
    message = cast("dict[str, Any]", entry)
    problems: list[Problem] = []
    role, content, time = (message.get(name) for name in FIELDS)
    if role not in ROLES:
        text = f"{shown(role)} is not one of: user, assistant"
        problems.append(Problem("p42.role", f"{path}.role", text))
    elif role == "system":
        text = "Port 42 skips stored system messages; the prompt belongs in agents.json"
        problems.append(Problem("p42.system", f"{path}.role", text, "warning"))
    if not isinstance(content, str):
        text = f"must be a string, not {shown(content)}"
        problems.append(Problem("p42.content", f"{path}.content", text))
    elif not content:
        text = "empty messages are not sent"
        problems.append(Problem("p42.content", f"{path}.content", text, "warning"))
    if not isinstance(time, str) or iso_time(time) != time:
        text = f"must be an RFC 3339 time, not {shown(time)}"
        level = "warning" if isinstance(time, str) else "error"
        problems.append(Problem("p42.timestamp", f"{path}.timestamp", text, level))
    return problems


FORMAT = Format(
    name=NAME,
    title="Port 42 session files",
    parse=parse,
    render=render,
    check=check,
)
