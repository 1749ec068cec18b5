"""Laws of translation, for every pair of APIs, on bodies as their clients send them.

`--hypothesis-profile hunt` tries each of them 5,000 times.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.replies.home import HomeCalls
from contextwright.formats.replies.reply import ModelReply, events_of, gather
from contextwright.formats.replies.streams import read_stream, write_stream
from contextwright.formats.settings import SAYS_NOTHING, effort_of
from contextwright.formats.tools import tools_by_name
from contextwright.streams import restore_calls, write_reply
from profiles import BODY, examples, often
from strategies.bodies import MODELS, bodies
from strategies.requests import requests
from strategies.vendor_types import vendor_bodies

MARK = re.compile(r"¶\d+")
AMBIGUOUS = {
    "OC-content",
    "OC-function",
    "X-mime",
    "G-dup-id",
    "OC-dup-id",
    "OC-id-empty",
    "OR-dup-id",
    "OR-reasoning-model",
}
"""Warnings about what is mended all the same: it means two things, or is refused by the model."""
ONE_PART = re.compile(r"messages\[(\d+)\]\.parts\[(\d+)\]")
KINDS: dict[str, type[Any]] = {
    "invent.id": cw.ToolCall,
    "invent.result": cw.ToolCall,
    "invent.signature": cw.ToolCall,
    "loss.call": cw.ToolCall,
    "loss.media": cw.Media,
    "loss.opaque": cw.Opaque,
    "loss.orphan": cw.ToolResult,
    "loss.thinking": cw.Thinking,
    "repair.id": cw.ToolCall,
    "repair.media": cw.Media,
    "repair.mime": cw.Media,
    "repair.order": cw.ToolResult,
}
"""The kind of part that a change is about."""
HOW_IT_CAME = ("additional_tools", "beside", "name", "namespace", "opens")
"""Marks of how a tool or call was spelled, which its flat name and its place say too."""
SAID_OTHERWISE = {
    "openai-chat": ("role",),
    "openai-responses": ("id", "role"),
    "gemini": ("parameters", "role"),
}
"""Fields that repeat what the message or tool says, or that the provider files it under."""
KINDS_OF_PARTS = ("message", "completed", "custom", "custom_tool_call", "custom_tool_call_output")
"""Values of `type` and `status` that every such part has."""
WHOLE = ("loss.blank", "loss.call", "loss.media", "loss.orphan", "loss.thinking", "loss.tool")
"""What is lost with all its fields."""
SIGNATURES = {"extra_content": "thoughtSignature", "thoughtSignature": "extra_content"}
"""Where Gemini's own API, and the one it has for OpenAI's clients, have the signature of a call."""
CACHED = ("cache_control", "prompt_cache_breakpoint")
models = st.fixed_dictionaries({api: st.sampled_from(names) for api, names in MODELS.items()})


@pytest.mark.parametrize("source", MODELS)
@pytest.mark.parametrize("made", [bodies, vendor_bodies])
def test_laws_of_translation(made: Callable[[str], st.SearchStrategy[Any]], source: str) -> None:
    """All laws on the same bodies: making them costs more than holding them."""
    unmended: list[bool] = []

    @examples(BODY)
    @given(made(source), models)
    def laws(body: dict[str, Any], chosen: dict[str, str]) -> None:
        own = body.get("model", chosen[source])
        before = msgspec.json.encode(body)
        unmended.append(is_identity(body, source, own))
        conversation = cw.parse(body, source)
        for target, model in {**chosen, source: own}.items():
            rendered = cw.convert(body, source, target, model=model)
            assert errors(rendered.payload, target, model, target != source) == []
            settles(rendered, target, model)
            parts_are_named(conversation, rendered)
            if target != source:
                texts_arrive(conversation, rendered)
                fields_arrive(conversation, rendered, target)
                settings_arrive(conversation, rendered, target)
                calls_come_home(conversation, target, model)
        assert msgspec.json.encode(body) == before

    laws()
    assert often(unmended)


def errors(payload: object, format: str, model: str, strict: bool = False) -> list[str]:
    also = ("-sampling", "-effort") if strict else ()  # settings that the model may refuse
    found = cw.check(payload, format, model=model)
    return [str(one) for one in found if one.level == "error" or one.code.endswith(also)]


def is_identity(body: dict[str, Any], format: str, model: str) -> bool:
    """Whether there is nothing to mend; then the same format gives the same body."""
    found = cw.check(body, format, model=model)
    if any(one.level == "error" or one.code in AMBIGUOUS for one in found):
        return False
    rendered = cw.convert(body, format, format, model=model)
    assert [str(change) for change in rendered.changes] == []
    assert rendered.payload is body
    assert rendered.json == msgspec.json.encode(body)
    again = cw.render(cw.parse(body, format), format, model=model).payload
    assert cw.parse(again, format) == cw.parse(body, format)
    return True


def settles(rendered: cw.Rendered, format: str, model: str) -> None:
    """What was made is not made again."""
    again = cw.convert(rendered.payload, format, format, model=model)
    assert [str(change) for change in again.changes] == []
    assert again.payload == rendered.payload


def parts_are_named(conversation: cw.Conversation, rendered: cw.Rendered) -> None:
    """A change names the part that it is about, whatever else was dropped or moved."""
    for change in rendered.changes:
        found = ONE_PART.fullmatch(change.path)
        if found and change.code in KINDS:
            message, part = map(int, found.groups())
            named = conversation.messages[message].parts[part]
            assert isinstance(named, KINDS[change.code]), str(change)


# --- every loss is named ---------------------------------------------------------------------


def texts_arrive(conversation: cw.Conversation, rendered: cw.Rendered) -> None:
    """Every text arrives, or a loss names the place it had."""
    arrived = {mark for text in texts_of(rendered.payload) for mark in MARK.findall(text)}
    lost: dict[str, list[str]] = {}
    for path, text in placed(msgspec.to_builtins(conversation)):
        for mark in MARK.findall(text):
            if mark not in arrived:
                lost.setdefault(mark, []).append(path)
    named = [change.path for change in rendered.changes if names_a_loss(change)]
    assert {mark: paths for mark, paths in lost.items() if not covered(paths, named)} == {}


def names_a_loss(change: cw.Change) -> bool:
    return change.code.startswith("loss.") or change.code == "repair.setting"


def covered(paths: list[str], named: list[str]) -> bool:
    """Whether one of the places a text had is one that a change names."""
    return any(
        place.startswith(name) or name.startswith(place) for place in paths for name in named
    )


def placed(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a conversation, each with the place that a change would name."""
    for index, message in enumerate(value["messages"]):
        for number, part in enumerate(message.get("parts", ())):
            if part.get("data") and part["type"] == "media":  # an address leads to the same bytes
                part = {key: part[key] for key in part if key not in ("file_id", "url")}
            yield from ((f"messages[{index}].parts[{number}]", text) for text in texts_of(part))
        rest = {key: message[key] for key in message if key != "parts"}
        yield from ((f"messages[{index}]", text) for text in texts_of(rest))
    for index, tool in enumerate(value.get("tools", ())):
        yield from ((f"tools[{index}]", text) for text in texts_of(tool))
    for fields in (value.get("settings", {}), *value.get("extra", {}).values()):
        for name, inner in fields.items():
            yield from ((name, text) for text in texts_of(inner))


def texts_of(value: Any) -> Iterator[str]:
    """All strings in a value, those in base64 too."""
    if isinstance(value, str):
        yield value
        try:
            yield base64.b64decode(value.rpartition("base64,")[2], validate=True).decode()
        except (binascii.Error, ValueError):
            pass
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)


def fields_arrive(conversation: cw.Conversation, rendered: cw.Rendered, target: str) -> None:
    """Every field that only one API has arrives under its name, or a change says it does not."""
    body = rendered.json.decode()
    carried = [field for field in CACHED if field in body]
    for path, holder in holders(conversation):
        said = [change for change in rendered.changes if change.path.startswith(path)]
        if any(change.code in WHOLE for change in said):
            continue
        reasons = " ".join(change.reason for change in said)
        for format, fields in holder.extra.items():
            known = (*HOW_IT_CAME, *SAID_OTHERWISE.get(format, ()))
            for field, value in fields.items():
                if format == target or not value or field in known:
                    continue
                if field in ("type", "status") and value in KINDS_OF_PARTS:
                    continue
                if field not in CACHED or not carried:
                    names = (field, SIGNATURES.get(field, field))
                    arrived = any(f'"{name}"' in body for name in names)
                    assert arrived or field in reasons, (path, field)


def holders(conversation: cw.Conversation) -> Iterator[tuple[str, Any]]:
    for index, message in enumerate(conversation.messages):
        yield f"messages[{index}]", message
        for number, part in enumerate(message.parts):
            if not isinstance(part, cw.Opaque):
                yield f"messages[{index}].parts[{number}]", part
    for index, tool in enumerate(conversation.tools):
        if isinstance(tool, cw.Tool):
            yield f"tools[{index}]", tool


def settings_arrive(conversation: cw.Conversation, rendered: cw.Rendered, target: str) -> None:
    """Every setting means the same there, or a change says what became of it."""
    asked, made = conversation.settings, cw.parse(rendered.payload, target).settings
    named = {change.path.partition(".")[0] for change in rendered.changes}
    lost = [change for change in rendered.changes if change.code == "loss.setting"]
    hosted = target == "openai-chat" and not rendered.payload["model"].startswith("gpt")
    for name in asked.__struct_fields__:
        wanted, got = getattr(asked, name), getattr(made, name)
        if name == "effort":
            wanted, got = effort_of(asked), effort_of(made)
            if wanted == "none" or asked.thinking_budget == made.thinking_budget is not None:
                continue  # a model that does not think anyway; or told by the token
        elif name == "output" and wanted is not None:
            wanted, got = wanted.schema, got and got.schema
        elif name == "tool_choice" and wanted is not None:
            if not conversation.tools or wanted.mode == "auto":
                continue
            wanted, got = wanted.mode, got and got.mode
        if any(change.path == name for change in lost):
            assert got != wanted or not got, (name, got)
        if name == "max_tokens" and wanted is None:
            assert got is None or name in named
        if name == "thinking_budget" and None not in (wanted, got) and asked.effort is None:
            told = {name, "effort", "thinking", "generationConfig"}
            assert wanted == got or got == -1 or named & told
        if wanted in (None, (), {}) or wanted == got or is_idle(name, wanted, conversation, hosted):
            continue
        assert named & {name, *OTHER_NAMES.get(name, ())}, (name, wanted, got)


OTHER_NAMES = {
    "effort": ("thinking",),
    "max_tokens": ("max_completion_tokens", "max_output_tokens", "generationConfig"),
    "show_thinking": ("thinking", "effort"),
    "parallel_calls": ("parallel_tool_calls", "tool_choice"),
}
"""What a change calls a setting that was translated first, and refused then."""


def is_idle(name: str, value: Any, conversation: cw.Conversation, hosted: bool) -> bool:
    """Whether a setting asks for nothing, or for what lies elsewhere."""
    if name in ("stream", "thinking_budget") or value in SAYS_NOTHING.get(name, ()):
        return True  # said by the address; told as effort
    if name == "show_thinking":  # hosts of chat show it unasked
        return not value or hosted or effort_of(conversation.settings) == "none"
    choice = conversation.settings.tool_choice
    idle = not conversation.tools or (choice is not None and choice.mode == "none")
    return name == "parallel_calls" and idle


# --- no loss is named that nobody has ---------------------------------------------------------

DEFAULTS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        **{"n": 1, "modalities": ["text"], "temperature": 1, "top_p": 1, "user": None},
        **{"presence_penalty": 0, "frequency_penalty": 0, "logprobs": False, "metadata": None},
        **{"response_format": {"type": "text"}, "verbosity": "medium", "store": False},
    },
    "openai-responses": {
        **{"truncation": "disabled", "temperature": 1, "top_p": 1, "user": None, "metadata": None},
        **{"parallel_tool_calls": None, "include": [], "background": False, "instructions": None},
    },
    "anthropic": {"temperature": 1, "stop_sequences": [], "service_tier": "auto", "metadata": None},
    "gemini": {"safetySettings": [], "labels": {}},
}
"""What each API does if it is not told otherwise."""
GENERATED = {"candidateCount": 1, "responseModalities": ["TEXT"], "temperature": 1, "topP": 1}


@pytest.mark.parametrize("source", MODELS)
def test_what_says_nothing_is_no_loss(source: str) -> None:
    """Clients spell out what an API does anyway; the same is lost with it and without it."""

    @examples(BODY)
    @given(bodies(source), models)
    def law(body: dict[str, Any], chosen: dict[str, str]) -> None:
        wordy = spelled_out(body, source)
        for target in MODELS:
            if target != source:
                losses, others = (lost(one, source, target, chosen) for one in (body, wordy))
                assert others == losses

    law()


def lost(body: Any, source: str, target: str, chosen: dict[str, str]) -> list[str]:
    """The losses, whatever order the settings stand in."""
    changes = cw.convert(body, source, target, model=chosen[target]).changes
    return sorted(str(change) for change in changes if change.code.startswith("loss."))


def spelled_out(body: dict[str, Any], source: str) -> dict[str, Any]:
    """The body with what its API takes for granted."""
    wordy: dict[str, Any] = {**DEFAULTS[source], **body}
    if source == "openai-responses" and isinstance(body["input"], list):
        wordy["input"] = [
            {"type": "message", **item} if "role" in item else item for item in body["input"]
        ]
    if source == "anthropic" and body.get("tools"):
        wordy["tools"] = [
            {"type": "custom", **tool} if "input_schema" in tool else tool for tool in body["tools"]
        ]
    if source == "gemini":
        wordy["generationConfig"] = {**GENERATED, **body.get("generationConfig", {})}
        if isinstance(body.get("systemInstruction"), dict):
            wordy["systemInstruction"] = {"role": "user", **body["systemInstruction"]}
    return wordy


# --- a call comes home -----------------------------------------------------------------------


def calls_come_home(request: cw.Conversation, target: str, model: str) -> None:
    """Calls of every tool that was sent come back under their own names and kinds."""
    rendered = cw.render(request, target, model=model)
    own = [*tools_by_name(request).values()][::-1]
    made = [tool for tool in cw.parse(rendered.payload, target).tools if isinstance(tool, cw.Tool)]
    assert len(made) == len(own)
    if not made:
        return
    source = request.source or ""
    expected = [identity_of(tool, source) for tool in own]
    given = [{"input": "x"} if kind == "custom" else {"at": 1} for _, kind, _ in expected]
    numbered = enumerate(zip(made, given, strict=True))
    calls = [cw.ToolCall(tool.name, arguments, f"c{n}") for n, (tool, arguments) in numbered]
    reply = ModelReply((cw.assistant(calls),), finish="tool_calls")
    home = restore_calls(reply, request, rendered.tool_names)
    assert called_in(write_reply(home, source).body, source) == expected
    passed = HomeCalls(request, rendered.tool_names)
    events = [one for event in events_of(reply) for one in passed.pass_on(event)]
    streamed = gather(read_stream(write_stream(events, source), source), source)
    assert called_in(write_reply(streamed, source).body, source) == expected
    assert [call.arguments for call in streamed.message.calls] == given
    # So the request's own API writes them, and so the request reads them in its history.
    read = restore_calls(cw.parse_reply(write_reply(home, source).body, source), request)
    assert [call.name for call in read.messages[0].calls] == [tool.name for tool in own]


def identity_of(tool: cw.Tool, source: str) -> tuple[str, str, str | None]:
    """The name, kind and namespace under which a client knows a tool."""
    fields = tool.extra.get(source, {})
    kind = "custom" if fields.get("type") == "custom" and source != "anthropic" else "function"
    space = fields.get("namespace", {}).get("name")
    return tool.name.removeprefix(f"{space}__"), kind, space


def called_in(reply: dict[str, Any], source: str) -> list[tuple[str, str, str | None]]:
    """The calls of a reply, as its client reads them."""
    match source:
        case "openai-chat":
            calls = reply["choices"][0]["message"]["tool_calls"]
            return [(call[call["type"]]["name"], call["type"], None) for call in calls]
        case "openai-responses":
            kinds = {"function_call": "function", "custom_tool_call": "custom"}
            return [
                (item["name"], kinds[item["type"]], item.get("namespace"))
                for item in reply["output"]
            ]
        case "anthropic":
            return [(block["name"], "function", None) for block in reply["content"]]
        case _:
            parts = reply["candidates"][0]["content"]["parts"]
            return [(part["functionCall"]["name"], "function", None) for part in parts]


# --- conversations of our own ----------------------------------------------------------------


@pytest.mark.parametrize("target", MODELS)
def test_tools_and_settings_stay_valid_and_calls_come_home(target: str) -> None:
    @given(requests, st.sampled_from(MODELS[target]))
    def law(request: cw.Conversation, model: str) -> None:
        rendered = cw.render(request, target, model=model)
        assert errors(rendered.payload, target, model) == []
        settles(rendered, target, model)
        sent = [tool.name for tool in cw.parse(rendered.payload, target).tools if is_tool(tool)]
        reply = cw.Conversation((cw.assistant([cw.ToolCall(name, {}, name) for name in sent]),))
        home = restore_calls(reply, request, rendered.tool_names).messages[0].calls
        assert [call.name for call in home] == [t.name for t in request.tools if is_tool(t)]

    law()


def is_tool(tool: object) -> TypeGuard[cw.Tool]:
    return isinstance(tool, cw.Tool)
