"""Other libraries on the same conversations, each through its own code for one provider.

Each peer gets its own native messages, built before the clock starts, and is timed from there to
JSON bytes. What would only slow a peer down is left out: clients, event loops, tool definitions,
its own JSON encoder where ours takes what it gives. Most of these functions are internal to their
packages and move; a peer that cannot be used is named with the reason.
"""

# The peers are not installed here.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
from msgspec import Struct

from contextwright import Conversation, Media, Message, Text, ToolCall, ToolResult

from . import naive

__all__ = ["PEERS", "Peer", "Ready"]

# litellm reads a table of prices from the network unless told not to.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


def as_json(value: Any) -> Any:
    """What a peer leaves to the provider's SDK to encode: open files."""
    if hasattr(value, "getvalue"):
        return value.getvalue()
    raise TypeError(f"a {type(value).__name__} is not JSON")


encode = msgspec.json.Encoder(enc_hook=as_json).encode
Run = Callable[[], bytes]
Loaded = Callable[[Conversation], Run]


class Peer(Struct):
    """One library for one provider's format."""

    name: str
    package: str
    format: str
    load: Callable[[str], Loaded]
    """Imports the library for a model; gives what turns a conversation into a function to time."""


class Ready(Struct):
    """A peer that works here, or why it does not."""

    peer: Peer
    version: str = ""
    prepare: Loaded | None = None
    reason: str = ""

    @classmethod
    def from_peer(cls, peer: Peer, model: str, sample: Conversation) -> Ready:
        """Import the peer and try it once."""
        try:
            found = version(peer.package)
            prepare = peer.load(model)
            size = len(prepare(sample)())
        except PackageNotFoundError:
            return cls(peer, reason="not installed")
        except Exception as error:  # foreign internals: whatever they raise is the finding
            return cls(peer, reason=f"does not run here: {type(error).__name__}: {error}"[:90])
        if size < 10_000:
            return cls(peer, found, reason=f"gives only {size} bytes")
        return cls(peer, found, prepare)


def finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never really waits, without the cost of an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("the coroutine waits for something")


def chat_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The messages as OpenAI chat dicts: litellm's native form."""
    return msgspec.json.decode(naive.openai_chat(conversation, ""))["messages"]


# --- litellm ---------------------------------------------------------------------------------


def litellm_openai(model: str) -> Loaded:
    from litellm.llms.openai.chat.gpt_transformation import OpenAIGPTConfig

    config = OpenAIGPTConfig()

    def prepare(conversation: Conversation) -> Run:
        messages = chat_messages(conversation)
        return lambda: encode(config.transform_request(model, messages, {}, {}, {}))

    return prepare


def litellm_responses(model: str) -> Loaded:
    from litellm.completion_extras.litellm_responses_transformation.transformation import (
        LiteLLMResponsesTransformationHandler,
    )

    convert = (
        LiteLLMResponsesTransformationHandler().convert_chat_completion_messages_to_responses_api
    )

    def prepare(conversation: Conversation) -> Run:
        messages = chat_messages(conversation)
        return lambda: encode(convert(messages))

    return prepare


def litellm_anthropic(model: str) -> Loaded:
    from litellm.litellm_core_utils.prompt_templates.factory import anthropic_messages_pt

    def prepare(conversation: Conversation) -> Run:
        system, *messages = chat_messages(conversation)
        return lambda: encode([system, anthropic_messages_pt(messages, model, "anthropic")])

    return prepare


def litellm_gemini(model: str) -> Loaded:
    from litellm.llms.vertex_ai.gemini.transformation import _gemini_convert_messages_with_history

    def prepare(conversation: Conversation) -> Run:
        system, *messages = chat_messages(conversation)
        convert = _gemini_convert_messages_with_history
        return lambda: encode([system, convert(messages, model=model)])

    return prepare


# --- langchain -------------------------------------------------------------------------------


def langchain_messages(conversation: Conversation) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    def said(message: Message) -> Any:
        if len(message.parts) == 1:
            return message.text
        return [naive.chat_part(part) for part in message.parts if isinstance(part, Text | Media)]

    native: list[Any] = []
    for message in conversation.messages:
        if message.role == "system":
            native.append(SystemMessage(message.text))
        elif message.role == "user":
            native.append(HumanMessage(said(message)))
        elif message.role == "assistant":
            calls = [
                {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}
                for call in message.calls
            ]
            native.append(AIMessage(message.text, tool_calls=calls))
        else:
            native.extend(
                ToolMessage(result.content, tool_call_id=result.call_id, name=result.name)
                for result in message.results
            )
    return native


def langchain_openai(model: str) -> Loaded:
    from langchain_core.messages import convert_to_openai_messages

    def prepare(conversation: Conversation) -> Run:
        messages = langchain_messages(conversation)
        return lambda: encode(convert_to_openai_messages(messages))

    return prepare


def langchain_responses(model: str) -> Loaded:
    from langchain_openai.chat_models.base import _construct_responses_api_input

    def prepare(conversation: Conversation) -> Run:
        messages = langchain_messages(conversation)
        return lambda: encode(_construct_responses_api_input(messages))

    return prepare


def langchain_anthropic(model: str) -> Loaded:
    from langchain_anthropic.chat_models import _format_messages

    def prepare(conversation: Conversation) -> Run:
        messages = langchain_messages(conversation)
        return lambda: encode(_format_messages(messages, model=model))

    return prepare


def langchain_gemini(model: str) -> Loaded:
    from google.genai.types import Content
    from langchain_google_genai.chat_models import _parse_chat_history
    from pydantic import TypeAdapter

    dump = TypeAdapter(list[Content]).dump_json

    def prepare(conversation: Conversation) -> Run:
        messages = langchain_messages(conversation)

        def run() -> bytes:
            system, history = _parse_chat_history(messages, model=model)
            return dump([system, *history], exclude_none=True, by_alias=True)  # type: ignore

        return run

    return prepare


# --- pydantic-ai -----------------------------------------------------------------------------


def pydantic_messages(conversation: Conversation) -> list[Any]:
    import base64

    from pydantic_ai import messages as native

    def said(message: Message) -> Any:
        if len(message.parts) == 1:
            return message.text
        return [
            part.text
            if isinstance(part, Text)
            else native.BinaryContent(base64.b64decode(part.data), media_type=part.mime)
            for part in message.parts
        ]

    def replied(part: Any) -> Any:
        if isinstance(part, ToolCall):
            return native.ToolCallPart(part.name, part.arguments, part.id)
        return native.TextPart(part.text)

    def returned(result: ToolResult) -> Any:
        return native.ToolReturnPart(result.name or "", result.content, result.call_id or "")

    turns: list[Any] = []
    for message in conversation.messages:
        if message.role == "assistant":
            turns.append(native.ModelResponse([replied(part) for part in message.parts]))
            continue
        if message.role == "system":
            parts = [native.SystemPromptPart(message.text)]
        elif message.role == "user":
            parts = [native.UserPromptPart(said(message))]
        else:
            parts = [returned(result) for result in message.results]
        if turns and isinstance(turns[-1], native.ModelRequest):
            turns[-1].parts = [*turns[-1].parts, *parts]
        else:
            turns.append(native.ModelRequest(parts))
    return turns


def pydantic_openai(model: str) -> Loaded:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    map_messages = OpenAIChatModel(model, provider=OpenAIProvider(api_key="-"))._map_messages

    def prepare(conversation: Conversation) -> Run:
        messages = pydantic_messages(conversation)
        return lambda: encode(finished(map_messages(messages, ModelRequestParameters())))

    return prepare


def pydantic_responses(model: str) -> Loaded:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    map_messages = OpenAIResponsesModel(model, provider=OpenAIProvider(api_key="-"))._map_messages

    def prepare(conversation: Conversation) -> Run:
        messages = pydantic_messages(conversation)

        def run() -> bytes:
            _, items = finished(map_messages(messages, {}, ModelRequestParameters()))
            return encode(items)

        return run

    return prepare


def pydantic_anthropic(model: str) -> Loaded:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(anthropic_client=AsyncAnthropic(api_key="-"))
    map_message = AnthropicModel(model, provider=provider)._map_message

    def prepare(conversation: Conversation) -> Run:
        messages = pydantic_messages(conversation)
        return lambda: encode(finished(map_message(messages, ModelRequestParameters(), {})))

    return prepare


def pydantic_gemini(model: str) -> Loaded:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    map_messages = GoogleModel(model, provider=GoogleProvider(api_key="-"))._map_messages

    def prepare(conversation: Conversation) -> Run:
        messages = pydantic_messages(conversation)
        return lambda: encode(finished(map_messages(messages, ModelRequestParameters())))

    return prepare


# --- llama-index and openai-agents -----------------------------------------------------------


def llama_messages(conversation: Conversation) -> list[Any]:
    import base64

    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock

    def block(part: Any) -> Any:
        if isinstance(part, Text):
            return TextBlock(text=part.text)
        if isinstance(part, ToolCall):
            arguments = {"tool_name": part.name, "tool_kwargs": part.arguments}
            return ToolCallBlock(tool_call_id=part.id, **arguments)
        return ImageBlock(image=base64.b64decode(part.data), image_mimetype=part.mime)

    native: list[Any] = []
    for message in conversation.messages:
        if message.role == "tool":
            for result in message.results:
                held = {"tool_call_id": result.call_id}
                words = [TextBlock(text=result.text)]
                native.append(ChatMessage(role="tool", blocks=words, additional_kwargs=held))
        else:
            blocks = [block(part) for part in message.parts]
            native.append(ChatMessage(role=message.role, blocks=blocks))
    return native


def llama_openai(model: str) -> Loaded:
    from llama_index.llms.openai.utils import to_openai_message_dicts

    def prepare(conversation: Conversation) -> Run:
        messages = llama_messages(conversation)
        return lambda: encode(to_openai_message_dicts(messages, model=model))

    return prepare


def llama_responses(model: str) -> Loaded:
    from llama_index.llms.openai.utils import to_openai_message_dicts

    def prepare(conversation: Conversation) -> Run:
        messages = llama_messages(conversation)
        return lambda: encode(to_openai_message_dicts(messages, model=model, is_responses_api=True))

    return prepare


def llama_anthropic(model: str) -> Loaded:
    from llama_index.llms.anthropic.utils import messages_to_anthropic_messages

    def prepare(conversation: Conversation) -> Run:
        messages = llama_messages(conversation)
        return lambda: encode(messages_to_anthropic_messages(messages, model=model))

    return prepare


def agents_openai(model: str) -> Loaded:
    from agents.models.chatcmpl_converter import Converter

    def prepare(conversation: Conversation) -> Run:
        items = msgspec.json.decode(naive.openai_responses(conversation, ""))["input"]
        return lambda: encode(Converter.items_to_messages(items))

    return prepare


PEERS = (
    Peer("litellm", "litellm", "openai-chat", litellm_openai),
    Peer("langchain", "langchain-core", "openai-chat", langchain_openai),
    Peer("pydantic-ai", "pydantic-ai-slim", "openai-chat", pydantic_openai),
    Peer("llama-index", "llama-index-llms-openai", "openai-chat", llama_openai),
    Peer("openai-agents", "openai-agents", "openai-chat", agents_openai),
    Peer("litellm", "litellm", "openai-responses", litellm_responses),
    Peer("langchain", "langchain-openai", "openai-responses", langchain_responses),
    Peer("pydantic-ai", "pydantic-ai-slim", "openai-responses", pydantic_responses),
    Peer("llama-index", "llama-index-llms-openai", "openai-responses", llama_responses),
    Peer("litellm", "litellm", "anthropic", litellm_anthropic),
    Peer("langchain", "langchain-anthropic", "anthropic", langchain_anthropic),
    Peer("pydantic-ai", "pydantic-ai-slim", "anthropic", pydantic_anthropic),
    Peer("llama-index", "llama-index-llms-anthropic", "anthropic", llama_anthropic),
    Peer("litellm", "litellm", "gemini", litellm_gemini),
    Peer("langchain", "langchain-google-genai", "gemini", langchain_gemini),
    Peer("pydantic-ai", "pydantic-ai-slim", "gemini", pydantic_gemini),
)
