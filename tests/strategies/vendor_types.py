"""Request bodies made from the types of the vendors' own SDKs: every field that they can send.

Texts are numbered (`¶7`), so that one that is missing is missed. Types say nothing about order, so
calls get their results, and most bodies are ones their API takes.
"""

from __future__ import annotations

import base64
import enum
from functools import cache
from random import Random
from types import NoneType
from typing import Any, Literal, Required, Union, get_args, get_origin

from anthropic.types.beta.message_create_params import (
    MessageCreateParamsNonStreaming as MessagesRequest,
)
from google.genai import types as genai
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming as ChatRequest,
)
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming as ResponsesRequest,
)
from typing_extensions import get_type_hints, is_typeddict

from strategies.bodies.pen import MODELS, PROTO, SCHEMAS, Body

__all__ = ["vendor_bodies"]

GEMINI_FIELDS: dict[str, Any] = {
    "contents": list[genai.Content],
    "systemInstruction": genai.Content,
    "tools": list[genai.Tool],
    "toolConfig": genai.ToolConfig,
    "generationConfig": genai.GenerationConfig,
    "safetySettings": list[genai.SafetySetting],
}
NEEDED = {
    "FunctionCall": ("name", "args"),
    "FunctionResponse": ("name", "response"),
    "FunctionDeclaration": ("name", "description"),
    "Blob": ("data", "mime_type"),
    "FileData": ("file_uri",),
    "ExecutableCode": ("code", "language"),
    "CodeExecutionResult": ("outcome",),
    "Content": ("parts",),
}
"""Fields without which Gemini refuses what its SDK calls optional."""
PART_KINDS = ("text", "inline_data", "function_call", "function_response", "file_data")
LEFT_OUT = ("stream", "betas", "functions", "function_call", "prompt", "conversation", "thread")
"""Fields that change what the rest of a body means."""
SCHEMA_FIELDS = ("input_schema", "schema", "parameters_json_schema", "response_json_schema")
MANY = ("messages", "contents", "input")
DEEPEST = 7
MISSING = object()
"""A value for a type that cannot be made."""


@st.composite
def vendor_bodies(draw: st.DrawFn, api: str) -> Body:
    """Request bodies of an API, as its vendor's SDK types them."""
    maker = Maker(draw(st.randoms(use_true_random=True)))
    match api:
        case "openai-chat":
            body = maker.typed(ChatRequest, 0)
            body["messages"] = answered_chat(body["messages"])
        case "openai-responses":
            body = maker.fields(hints(ResponsesRequest), ("input",), 0)
        case "anthropic":
            body = maker.typed(MessagesRequest, 0)
            body["messages"] = answered_messages(body["messages"])
        case _:
            body = maker.fields(GEMINI_FIELDS, ("contents",), 0)
            body["contents"] = alternating(body["contents"])
    if api != "gemini":
        body["model"] = maker.random.choice(MODELS[api])
    return body


class Maker:
    """Makes values of types, each text with a number of its own."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.number = 0

    def words(self) -> str:
        self.number += 1
        return f"¶{self.number} words"

    def fields(self, types: dict[str, Any], needed: tuple[str, ...], depth: int) -> Body:
        """Make an object of the fields it needs and some of the others."""
        made: Body = {}
        for name, type in types.items():
            if name not in needed and (name in LEFT_OUT or self.random.random() > 0.25):
                continue
            value = self.value(type, name, depth + 1)
            if value is not MISSING and value is not None:
                made[name] = value
        return made

    def typed(self, type: Any, depth: int) -> Any:
        """Make an object of a `TypedDict`."""
        types = hints(type)
        needed = tuple(name for name, hint in types.items() if get_origin(hint) is Required)
        if depth > DEEPEST and any(is_typeddict(get_args(types[name])[0]) for name in needed):
            return MISSING
        made = self.fields(types, needed, depth)
        return made if all(name in made for name in needed) else MISSING

    def model(self, type: Any, depth: int) -> Any:
        """Make an object of Gemini's SDK, whose types call every field optional."""
        fields, needed = type.model_fields, NEEDED.get(type.__name__, ())
        if type is genai.Part:
            needed = (self.random.choice(PART_KINDS),)
            fields = {name: fields[name] for name in (*needed, "thought", "video_metadata")}
        elif type is genai.FunctionResponse:
            fields = {name: fields[name] for name in fields if name != "parts"}
        named = {name: field.annotation for name, field in fields.items()}
        made = self.fields(named, needed, depth)
        return {fields[name].alias or name: value for name, value in made.items()}

    def value(self, type: Any, name: str, depth: int) -> Any:
        """Make a value of any type an SDK uses."""
        origin, inner = get_origin(type), get_args(type)
        if name in SCHEMA_FIELDS or (name == "parameters" and type is not genai.Schema):
            return self.random.choice(SCHEMAS[:2])
        if type is genai.Schema:
            return PROTO
        if origin is Literal:
            return self.random.choice(inner)
        if origin is Union or str(origin) == "<class 'types.UnionType'>":
            return self.one_of([one for one in inner if one is not NoneType], name, depth)
        if getattr(origin, "__name__", "") in ("list", "Iterable", "Sequence", "SequenceNotStr"):
            return self.listed(inner[0], name, depth)
        if getattr(origin, "__name__", "") in ("dict", "Mapping"):
            return {"k": self.value(inner[1], "", depth + 1)} if self.random.random() < 0.5 else {}
        if origin is not None:  # Required, NotRequired, Annotated
            return self.value(inner[0], name, depth)
        if is_typeddict(type):
            return self.typed(type, depth)
        return self.plain(type, name, depth)

    def plain(self, type: Any, name: str, depth: int) -> Any:
        """Make a value of a type without parameters."""
        if type is str:
            return self.text(name)
        if type is bytes:
            return encoded(b"\x00" + self.words().encode())
        if type in (int, float, bool):
            return {int: 2_048, float: 0.5, bool: self.random.random() < 0.5}[type]
        if type is Any or type is object:
            return self.random.choice((self.words(), 3, {"k": self.words()}))
        if isinstance(type, enum.EnumMeta):
            return self.random.choice([one.value for one in type])  # pyright: ignore
        if str(getattr(type, "__module__", "")) == genai.__name__ and depth < DEEPEST:
            return self.model(type, depth)
        return MISSING  # among them the types of replies, which Anthropic's SDK also takes

    def one_of(self, types: list[Any], name: str, depth: int) -> Any:
        """Make a value of one of several types; of a simple one where they nest deep."""
        simple = [type for type in types if type in (str, int, float, bool)]
        if depth > DEEPEST and simple:
            types = simple
        for type in self.random.sample(types, len(types)):
            value = self.value(type, name, depth)
            if value is not MISSING:
                return value
        return MISSING

    def listed(self, type: Any, name: str, depth: int) -> list[Any]:
        sizes = (2, 4, 6) if name in MANY else (1, 1, 2)
        made = [self.value(type, name, depth + 1) for _ in range(self.random.choice(sizes))]
        return [value for value in made if value is not MISSING]

    def text(self, name: str) -> str:
        """Make a text that fits the name of its field."""
        self.number += 1
        match name:
            case (
                "id"
                | "call_id"
                | "tool_call_id"
                | "tool_use_id"
                | "item_id"
                | "approval_request_id"
            ):
                return f"id_{self.number}"
            case "name" | "tool_name" | "server_name" | "namespace":
                return f"name_{self.number}"
            case "data":
                return encoded(f"¶{self.number}".encode())
            case "file_data":
                return f"data:application/pdf;base64,{encoded(f'%PDF-¶{self.number}'.encode())}"
            case "url" | "image_url" | "file_url" | "file_uri" | "server_url":
                return f"https://example.com/¶{self.number}.png"
            case "mime_type" | "media_type":
                return self.random.choice(("image/png", "application/pdf", "text/plain"))
            case "arguments":
                return f'{{"q": "¶{self.number}"}}'
            case "signature" | "encrypted_content" | "thought_signature":
                return encoded(b"sealed" * 4)
            case _:
                return f"¶{self.number} words"


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@cache
def hints(type: Any) -> dict[str, Any]:
    return get_type_hints(type, include_extras=True)


# --- order, of which types say nothing -----------------------------------------------------------


def answered_chat(messages: list[Body]) -> list[Body]:
    """Return the messages with a result after each call, and no other results."""
    ordered: list[Body] = []
    for message in messages:
        if message["role"] in ("tool", "function"):
            continue
        message.pop("function_call", None)
        ordered.append(message)
        calls: list[Body] = message.get("tool_calls", ())
        ordered.extend(
            {"role": "tool", "tool_call_id": call["id"], "content": f"result of {call['id']}"}
            for call in calls
        )
    return ordered or [{"role": "user", "content": "Hi"}]


def answered_messages(messages: list[Body]) -> list[Body]:
    """Return turns that alternate, with a result for each call and the user's at the end."""
    ordered: list[Body] = [{"role": "user", "content": "Hi"}]
    for message in messages:
        if message["role"] != "assistant" or ordered[-1]["role"] == "assistant":
            continue
        ordered.append(message)
        blocks: list[Body] = message["content"] if isinstance(message["content"], list) else []
        results: list[Body] = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        ordered.append({"role": "user", "content": [*results, {"type": "text", "text": "And?"}]})
    said = [message for message in messages if message["role"] == "user"]
    return [*ordered[:-1], *said[:1]] if said and len(ordered) == 1 else ordered


def alternating(contents: list[Body]) -> list[Body]:
    """Return contents of the user and the model in turn, without calls and results."""
    turns: list[Body] = []
    for content in contents:
        held = ("functionCall", "functionResponse")
        parts = [part for part in content["parts"] if not any(key in part for key in held)]
        if parts:
            role = "model" if len(turns) % 2 else "user"
            turns.append({"role": role, "parts": parts})
    return turns or [{"role": "user", "parts": [{"text": "Hi"}]}]
