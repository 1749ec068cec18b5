"""OpenAI Chat Completions: `POST /v1/chat/completions`, its replies and its streams.

Spoken by OpenAI and, with differences that `openai_chat_dialects` lists, by most other hosts.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from contextwright.changes import Change
from contextwright.errors import shown
from contextwright.formats.base import (
    Conversation,
    Format,
    Options,
    Rendered,
)
from contextwright.formats.openai_chat.calls import function_of, tool_of
from contextwright.formats.openai_chat.fitting import (
    carries_unsaid,
    fitted_tool,
    leave_out_refused,
    takes_extra,
    without_system,
)
from contextwright.formats.openai_chat.media import carries_media, has_source
from contextwright.formats.openai_chat.reading import message_of
from contextwright.formats.openai_chat.responses import from_responses
from contextwright.formats.openai_chat.settings import settings_of, settings_wire
from contextwright.formats.openai_chat.stream import accumulate
from contextwright.formats.openai_chat.writing import ACCEPTED_SPEAKER, Writer, tool_wire
from contextwright.formats.reading import Reader, stream_reader
from contextwright.formats.rules import RULES, name_speakers
from contextwright.formats.survey import made_legal
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.messages import Message, Opaque, Part, Role, Thinking, Tool
from contextwright.models import Model
from contextwright.wire.openai_chat.dialects import OPENAI, Dialect, dialect_of
from contextwright.wire.openai_chat.rules import NEEDING_TOOLS, check

__all__ = ["FORMAT"]

NAME = "openai-chat"
ANYTHING = Spelling(r"\s\S")
SHORT = Spelling(r"\s\S", longest=40)
REPLY_FIELDS = ("id", "finish_reason", "usage", "service_tier")


def carries_thinking(thinking: Thinking, model: Model) -> bool:
    """OpenAI takes none back; other hosts their own, signed ones from the very model."""
    if dialect_of(model).thinking is None or thinking.origin != NAME:
        return False
    return not thinking.signature or thinking.model in (None, model.id)


def takes_anything(holder: Part | Message, role: Role, model: Model) -> bool:
    """Hosts other than OpenAI ignore what they do not know."""
    return True


@cache
def traits_of(dialect: Dialect, *, faithful: bool, mid_system: bool) -> Traits:
    """What a host's messages can carry; what once was sent to it may be sent again."""
    lenient = faithful and not dialect.closed
    strict = not faithful and dialect.closed
    return Traits(
        format=NAME,
        ids=ANYTHING if lenient else SHORT,
        tool_names=ANYTHING if lenient else Spelling(longest=64),
        system="anywhere" if mid_system or faithful else "top",
        names=True,
        result_media=lenient,
        assistant_media=lenient,
        carries_media=has_source if lenient else carries_unsaid if strict else carries_media,
        carries_thinking=carries_thinking,
        takes_extra=takes_extra if dialect.closed else takes_anything,
    )


TRAITS = traits_of(OPENAI, faithful=False, mid_system=True)

# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """A conversation from a request body, or from a bare list of messages or stored rows."""
    reader = Reader(NAME, strict=strict)
    body = reader.body(data, "messages")
    model = reader.optional_text(body, "model")
    messages = [
        message_of(message, path, reader, model)
        for path, message in reader.objects(body, "messages")
    ]
    tools = [tool_of(tool, path, reader) for path, tool in reader.objects(body, "tools")]
    for path, function in reader.objects(body, "functions"):
        tools.append(function_of(function, path, reader, {"functions": True}))
    rest = {key: body[key] for key in body if key not in ("model", "messages", "functions")}
    if tools or rest.get("tools", ()) is None:
        rest.pop("tools", None)
    return reader.conversation(messages, rest, tools=tools, model=model, settings=settings_of(rest))


def parse_reply(reply: Any) -> Conversation:
    """The assistant message of a reply: of its first choice, where there are several."""
    reader = Reader(NAME, strict=False)
    body = reader.reply(reply)
    model = reader.optional_text(body, "model")
    choices = list(reader.objects(body, "choices"))
    path, choice = choices[0] if choices else ("", {"message": body})
    message = choice.get("message")
    if not isinstance(message, dict):
        reader.fault(f"{path}.message", f"must be an object, not {shown(message)}")
        message = {}
    said = {key: value for key, value in cast("dict[str, Any]", message).items() if value}
    entry = {"content": None, **said, "role": "assistant"}
    place = f"{path}.message" if choices else ""
    answer = message_of(entry, place, reader, model)
    rest = {key: value for key, value in {**body, **choice}.items() if key in REPLY_FIELDS}
    return reader.conversation([answer], rest, model=model)


parse_stream = stream_reader(accumulate, parse_reply)


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """The request body."""
    dialect = dialect_of(model)
    made: list[Change] = []
    faithful = conversation.source == NAME
    conversation = from_responses(conversation)
    rules = FAITHFUL_RULES if faithful and names_fit(conversation, dialect) else RULES
    if dialect.closed:
        rules = (leave_out_refused, *rules)
        if not model.system_role:
            conversation = without_system(conversation, model, made)
    mid_system = model.mid_system or model.format != NAME
    traits = traits_of(dialect, faithful=faithful, mid_system=mid_system)
    messages, target, changes, _ = made_legal(conversation, traits, model, options, rules)
    changes = [*made, *changes]
    body: dict[str, Any] = {
        "model": model.id,
        "messages": Writer(target, dialect, changes).messages(messages),
        **tools_wire(conversation, target, dialect, changes),
    }
    for field, value in settings_wire(conversation, dialect, model, changes).items():
        body.setdefault(field, value)
    if target.tool_names and "tool_choice" in body:
        body["tool_choice"] = respelled_choice(body["tool_choice"], target.tool_names)
    if dialect.closed:
        settle_tools(body, changes)
    return Rendered(body, tuple(changes))


FAITHFUL_RULES = tuple(rule for rule in RULES if rule is not name_speakers)


def names_fit(conversation: Conversation, dialect: Dialect) -> bool:
    """Whether names that came from here may go back as they are, however unusual."""
    return not dialect.closed or all(
        message.author is None or ACCEPTED_SPEAKER(message.author.label)
        for message in conversation.messages
    )


def tools_wire(
    conversation: Conversation, target: Target, dialect: Dialect, changes: list[Change]
) -> dict[str, list[dict[str, Any]]]:
    """The tools the model may call, as `tools` or in the old style as `functions`."""
    wire: dict[str, list[dict[str, Any]]] = {}
    for index, tool in enumerate(conversation.tools):
        path = f"tools[{index}]"
        if isinstance(tool, Opaque):
            if tool.format != NAME:
                changes.append(Change("loss.tool", path, f"hosted by {tool.format}"))
            elif dialect.closed:
                reason = "OpenAI has no such tool in this format"
                changes.append(Change("loss.tool", path, reason))
            else:
                wire.setdefault("tools", []).append(tool.data)
            continue
        if dialect.closed:
            tool = fitted_tool(tool, path, changes, faithful=target.faithful)
        lost = foreign_fields(tool)
        if lost:
            changes.append(Change("loss.extra", path, f"{NAME} has no {', '.join(lost)}"))
        definition = tool_wire(tool, target.tool_names.get(tool.name, tool.name))
        if tool.extra.get(NAME, {}).get("functions") is True:
            wire.setdefault("functions", []).append(definition["function"])
        else:
            wire.setdefault("tools", []).append(definition)
    return wire


def foreign_fields(tool: Tool) -> list[str]:
    """What another format said about a tool that has no place here."""
    return [
        field
        for name, held in tool.extra.items()
        if name != NAME
        for field, value in held.items()
        if value
    ]


def respelled_choice(choice: Any, names: dict[str, str]) -> Any:
    """The tool that must be called, under the name it has in this request."""
    match choice:
        case {"function": {"name": str(name)}} if name in names:
            return {"type": "function", "function": {"name": names[name]}}
        case _:
            return choice


def settle_tools(body: dict[str, Any], changes: list[Change]) -> None:
    """Leave out what OpenAI refuses where there are no tools."""
    if body.get("tools") == []:
        del body["tools"]
        changes.append(Change("repair.tools", "tools", "an empty list is refused; left out"))
    for field, needed in NEEDING_TOOLS.items():
        if field in body and needed not in body:
            del body[field]
            changes.append(Change("loss.setting", field, f"refused without {needed}"))


FORMAT = Format(
    name=NAME,
    title="OpenAI Chat Completions requests, replies and streams, and compatible hosts",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
)
