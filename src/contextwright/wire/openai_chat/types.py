"""The OpenAI Chat Completions request, as types: `POST /v1/chat/completions`.

A field that may be null has `None` in its type; one that may only be left out has `UnsetType`.
Rules of order, which types cannot express, are in `rules.py`; what compatible hosts accept beyond
these types is in `dialects.py`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from contextwright.wire.shapes import Shape

__all__ = [
    "AssistantMessage",
    "CustomCall",
    "CustomTool",
    "DeveloperMessage",
    "FunctionCall",
    "FunctionMessage",
    "FunctionTool",
    "RequestMessage",
    "Request",
    "SystemMessage",
    "ToolMessage",
    "UserMessage",
]


class CacheBreakpoint(Shape):
    mode: Literal["explicit"]
    ttl: Literal["30m", "12h"] | UnsetType = UNSET


class Markable(Shape, kw_only=True):
    """Base of the content parts that may carry a cache breakpoint."""

    prompt_cache_breakpoint: CacheBreakpoint | UnsetType = UNSET


class TextPart(Markable, tag_field="type", tag="text"):
    text: str


class OnlyText(Markable):
    """A text part where no other kind is allowed, so that `type` is required here too."""

    type: Literal["text"]
    text: str


class ImageUrl(Shape):
    url: str
    detail: Literal["auto", "low", "high", "original"] | UnsetType = UNSET


class ImagePart(Markable, tag_field="type", tag="image_url"):
    image_url: ImageUrl


class InputAudio(Shape):
    data: str
    format: Literal["wav", "mp3"]


class AudioPart(Markable, tag_field="type", tag="input_audio"):
    input_audio: InputAudio


class FileSource(Shape):
    file_data: str | UnsetType = UNSET
    file_id: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET


class FilePart(Markable, tag_field="type", tag="file"):
    file: FileSource


class RefusalPart(Shape, tag_field="type", tag="refusal"):
    refusal: str


class CalledFunction(Shape):
    name: str
    arguments: str


class CalledCustom(Shape):
    name: str
    input: str


class FunctionCall(Shape, tag_field="type", tag="function"):
    """A call of a function tool; its arguments are JSON text."""

    id: str
    function: CalledFunction


class CustomCall(Shape, tag_field="type", tag="custom"):
    """A call of a custom tool; its input is free text."""

    id: str
    custom: CalledCustom


class SpokenAudio(Shape):
    id: str


class SystemMessage(Shape, tag_field="role", tag="system"):
    """Instructions, for the models before o1."""

    content: str | list[OnlyText]
    name: str | UnsetType = UNSET


class DeveloperMessage(Shape, tag_field="role", tag="developer"):
    """Instructions, for o1 and newer models."""

    content: str | list[OnlyText]
    name: str | UnsetType = UNSET


class UserMessage(Shape, tag_field="role", tag="user"):
    """A message of the user."""

    content: str | list[TextPart | ImagePart | AudioPart | FilePart]
    name: str | UnsetType = UNSET


class AssistantMessage(Shape, tag_field="role", tag="assistant"):
    """A message of the model, with its tool calls."""

    content: str | list[TextPart | RefusalPart] | None = None
    tool_calls: list[FunctionCall | CustomCall] | UnsetType = UNSET
    refusal: str | None = None
    audio: SpokenAudio | None = None
    name: str | UnsetType = UNSET
    function_call: CalledFunction | None = None
    annotations: list[dict[str, Any]] | None = None
    """From replies; not in the API's own types, but accepted."""


class ToolMessage(Shape, tag_field="role", tag="tool"):
    """The result of a tool call."""

    content: str | list[OnlyText]
    tool_call_id: str
    name: str | UnsetType = UNSET
    """Not in the API's own types, but accepted."""


class FunctionMessage(Shape, tag_field="role", tag="function"):
    """The result of a function call, from before there were tools."""

    name: str
    content: str | None


RequestMessage: TypeAlias = (
    SystemMessage
    | DeveloperMessage
    | UserMessage
    | AssistantMessage
    | ToolMessage
    | FunctionMessage
)
"""One message of a request, typed."""


class Function(Shape):
    name: str
    description: str | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType = UNSET
    strict: bool | None = None


class FunctionTool(Shape, tag_field="type", tag="function"):
    """A tool that is called with JSON arguments."""

    function: Function


class TextFormat(Shape, tag_field="type", tag="text"): ...


class Grammar(Shape):
    definition: str
    syntax: Literal["lark", "regex"]


class GrammarFormat(Shape, tag_field="type", tag="grammar"):
    grammar: Grammar


class Custom(Shape):
    name: str
    description: str | UnsetType = UNSET
    format: TextFormat | GrammarFormat | UnsetType = UNSET


class CustomTool(Shape, tag_field="type", tag="custom"):
    """A tool that is called with free text."""

    custom: Custom


class Named(Shape):
    name: str


class ChosenFunction(Shape, tag_field="type", tag="function"):
    function: Named


class ChosenCustom(Shape, tag_field="type", tag="custom"):
    custom: Named


class AllowedTools(Shape):
    mode: Literal["auto", "required"]
    tools: list[dict[str, Any]]


class ChosenAllowed(Shape, tag_field="type", tag="allowed_tools"):
    allowed_tools: AllowedTools


class OldFunction(Shape):
    name: str
    description: str | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType = UNSET


class TextResponse(Shape, tag_field="type", tag="text"): ...


class JsonResponse(Shape, tag_field="type", tag="json_object"): ...


class JsonSchema(Shape):
    name: str
    description: str | UnsetType = UNSET
    schema: dict[str, Any] | UnsetType = UNSET
    strict: bool | None = None


class SchemaResponse(Shape, tag_field="type", tag="json_schema"):
    json_schema: JsonSchema


class Voice(Shape):
    id: str


class AudioOutput(Shape):
    format: Literal["wav", "aac", "mp3", "flac", "opus", "pcm16"]
    voice: str | Voice


class ModerationMode(Shape):
    mode: Literal["score", "block"]


class ModerationPolicy(Shape):
    input: ModerationMode | None = None
    output: ModerationMode | None = None


class Moderation(Shape):
    model: str
    policy: ModerationPolicy | None = None


class Prediction(Shape):
    type: Literal["content"]
    content: str | list[OnlyText]


class CacheOptions(Shape):
    mode: Literal["implicit", "explicit"] | UnsetType = UNSET
    ttl: Literal["30m"] | UnsetType = UNSET


class StreamOptions(Shape):
    include_usage: bool | UnsetType = UNSET
    include_obfuscation: bool | UnsetType = UNSET


class Place(Shape):
    city: str | UnsetType = UNSET
    country: str | UnsetType = UNSET
    region: str | UnsetType = UNSET
    timezone: str | UnsetType = UNSET


class UserLocation(Shape):
    type: Literal["approximate"]
    approximate: Place


class WebSearch(Shape):
    search_context_size: Literal["low", "medium", "high"] | UnsetType = UNSET
    user_location: UserLocation | None = None


class Request(Shape):
    """The body; fields after `tool_choice` are plain settings."""

    model: str
    messages: list[RequestMessage]
    tools: list[FunctionTool | CustomTool] | UnsetType = UNSET
    tool_choice: (
        Literal["none", "auto", "required"]
        | ChosenFunction
        | ChosenCustom
        | ChosenAllowed
        | UnsetType
    ) = UNSET
    audio: AudioOutput | None = None
    frequency_penalty: float | None = None
    function_call: Literal["none", "auto"] | Named | UnsetType = UNSET
    functions: list[OldFunction] | UnsetType = UNSET
    logit_bias: dict[str, float] | None = None
    logprobs: bool | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    metadata: dict[str, str] | None = None
    modalities: list[Literal["text", "audio"]] | None = None
    moderation: Moderation | None = None
    n: int | None = None
    parallel_tool_calls: bool | UnsetType = UNSET
    prediction: Prediction | None = None
    presence_penalty: float | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: CacheOptions | UnsetType = UNSET
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = (
        None
    )
    response_format: TextResponse | JsonResponse | SchemaResponse | UnsetType = UNSET
    safety_identifier: str | None = None
    seed: int | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority", "fast"] | None = None
    stop: str | list[str] | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_logprobs: int | None = None
    top_p: float | None = None
    user: str | UnsetType = UNSET
    verbosity: Literal["low", "medium", "high"] | None = None
    web_search_options: WebSearch | UnsetType = UNSET
