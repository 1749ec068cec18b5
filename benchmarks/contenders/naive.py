"""What a competent engineer would write by hand: one loop a provider, and nothing checked.

The loops take the same values as `contextwright.render` and give the same payload for a clean
history, which the benchmark verifies before it measures. They know nothing about histories that
are not clean, and write messages alone: tool definitions are left out of what is compared.

The checks look at what breaks most often: roles, words where they must be, calls with arguments
that can be read, and a result for each. Our `check` looks at every field besides.
"""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from contextwright import Conversation, Media, Message, Text, ToolCall, ToolResult

__all__ = ["CHECKS", "LOOPS"]

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder().decode
STAND_IN = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""Google's documented stand-in for calls that no Gemini model signed; refused without it."""


def openai_chat(conversation: Conversation, model: str) -> bytes:
    messages: list[dict[str, Any]] = []
    for message in conversation.messages:
        role, parts = message.role, message.parts
        if role == "tool":
            for result in parts:
                messages.append(
                    {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
                )
        elif role == "assistant":
            text = None
            calls: list[dict[str, Any]] = []
            for part in parts:
                if isinstance(part, ToolCall):
                    function = {"name": part.name, "arguments": encode(part.arguments).decode()}
                    calls.append({"id": part.id, "type": "function", "function": function})
                else:
                    text = part.text
            written: dict[str, Any] = {"role": "assistant", "content": text}
            if calls:
                written["tool_calls"] = calls
            messages.append(written)
        elif len(parts) == 1:
            messages.append({"role": role, "content": parts[0].text})
        else:
            messages.append({"role": role, "content": [chat_part(part) for part in parts]})
    limit = conversation.settings.max_tokens
    return encode({"model": model, "messages": messages, "max_completion_tokens": limit})


def chat_part(part: Text | Media) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{part.data}"}}


def openai_responses(conversation: Conversation, model: str) -> bytes:
    items: list[dict[str, Any]] = []
    first, *messages = conversation.messages
    for message in messages:
        role, parts = message.role, message.parts
        if role == "tool":
            for result in parts:
                items.append(
                    {
                        "type": "function_call_output",
                        "call_id": result.call_id,
                        "output": result.content,
                    }
                )
        elif role == "assistant":
            for part in parts:
                if isinstance(part, ToolCall):
                    items.append(
                        {
                            "type": "function_call",
                            "call_id": part.id,
                            "name": part.name,
                            "arguments": encode(part.arguments).decode(),
                        }
                    )
                else:
                    items.append({"role": "assistant", "content": part.text})
        elif len(parts) == 1:
            items.append({"role": role, "content": parts[0].text})
        else:
            items.append({"role": role, "content": [responses_part(part) for part in parts]})
    limit = conversation.settings.max_tokens
    body = {"model": model, "instructions": first.text, "input": items}
    return encode({**body, "max_output_tokens": limit})


def responses_part(part: Text | Media) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    url = f"data:{part.mime};base64,{part.data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def anthropic(conversation: Conversation, model: str) -> bytes:
    turns: list[dict[str, Any]] = []
    previous = ""
    first, *messages = conversation.messages
    for message in messages:
        blocks = [anthropic_block(part) for part in message.parts]
        if message.role == "tool" == previous:
            turns[-1]["content"].extend(blocks)
        else:
            role = "assistant" if message.role == "assistant" else "user"
            turns.append({"role": role, "content": blocks})
        previous = message.role
    system = [{"type": "text", "text": first.text}]
    limit = conversation.settings.max_tokens
    body = {"model": model, "max_tokens": limit, "system": system, "messages": turns}
    return encode(body)


def anthropic_block(part: Any) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, ToolCall):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
    if isinstance(part, ToolResult):
        return {"type": "tool_result", "tool_use_id": part.call_id, "content": part.content}
    source = {"type": "base64", "media_type": part.mime, "data": part.data}
    return {"type": "image", "source": source}


def gemini(conversation: Conversation, model: str) -> bytes:
    contents: list[dict[str, Any]] = []
    previous = ""
    first, *messages = conversation.messages
    for message in messages:
        parts = gemini_parts(message)
        if message.role == "tool" == previous:
            contents[-1]["parts"].extend(parts)
        else:
            role = "model" if message.role == "assistant" else "user"
            contents.append({"role": role, "parts": parts})
        previous = message.role
    return encode(
        {
            "systemInstruction": {"parts": [{"text": first.text}]},
            "contents": contents,
            "generationConfig": {"maxOutputTokens": conversation.settings.max_tokens},
        }
    )


def gemini_parts(message: Message) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    signed = False
    for part in message.parts:
        if isinstance(part, Text):
            parts.append({"text": part.text})
        elif isinstance(part, ToolCall):
            call = {"name": part.name, "args": part.arguments, "id": part.id}
            wire: dict[str, Any] = {"functionCall": call}
            if not signed:
                wire["thoughtSignature"] = STAND_IN
                signed = True
            parts.append(wire)
        elif isinstance(part, ToolResult):
            response = {"output": part.content}
            answer = {"name": part.name, "response": response, "id": part.call_id}
            parts.append({"functionResponse": answer})
        else:
            parts.append({"inlineData": {"mimeType": part.mime, "data": part.data}})
    return parts


def check_chat(body: dict[str, Any]) -> list[str]:
    faults: list[str] = []
    pending: set[str] = set()
    for index, message in enumerate(body["messages"]):
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            if message.get("tool_call_id") not in pending:
                faults.append(f"{index}: answers no call")
            pending.discard(message.get("tool_call_id"))
        elif pending:
            faults.append(f"{index}: calls without a result")
        elif role not in ("system", "developer", "user", "assistant"):
            faults.append(f"{index}: unknown role")
        calls = message.get("tool_calls")
        if calls:
            for call in calls:
                pending.add(call["id"])
                if not isinstance(decode(call["function"]["arguments"]), dict):
                    faults.append(f"{index}: arguments are no object")
        elif not isinstance(content, (str, list)):
            faults.append(f"{index}: no content")
    return faults


def check_responses(body: dict[str, Any]) -> list[str]:
    faults: list[str] = []
    pending: set[str] = set()
    for index, item in enumerate(body["input"]):
        kind = item.get("type", "message")
        if kind == "function_call":
            pending.add(item["call_id"])
            if not isinstance(decode(item["arguments"]), dict):
                faults.append(f"{index}: arguments are no object")
        elif kind == "function_call_output":
            if item.get("call_id") not in pending:
                faults.append(f"{index}: answers no call")
            pending.discard(item.get("call_id"))
        elif item.get("role") not in ("system", "developer", "user", "assistant"):
            faults.append(f"{index}: unknown role")
        elif not isinstance(item.get("content"), (str, list)):
            faults.append(f"{index}: no content")
    return faults


def check_anthropic(body: dict[str, Any]) -> list[str]:
    faults: list[str] = []
    pending: set[str] = set()
    previous = ""
    for index, message in enumerate(body["messages"]):
        role = message.get("role")
        if role not in ("user", "assistant") or role == previous:
            faults.append(f"{index}: wrong role")
        previous = role
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kind = block.get("type")
            if kind == "text":
                if not block["text"] or block["text"].isspace():
                    faults.append(f"{index}: blank text")
            elif kind == "tool_use":
                pending.add(block["id"])
            elif kind == "tool_result":
                if block.get("tool_use_id") not in pending:
                    faults.append(f"{index}: answers no call")
                pending.discard(block.get("tool_use_id"))
        if role == "user" and pending:
            faults.append(f"{index}: calls without a result")
    return faults


def check_gemini(body: dict[str, Any]) -> list[str]:
    faults: list[str] = []
    pending: set[str] = set()
    for index, content in enumerate(body["contents"]):
        role = content.get("role")
        if role not in ("user", "model"):
            faults.append(f"{index}: wrong role")
        if not content.get("parts"):
            faults.append(f"{index}: no parts")
        for part in content["parts"]:
            if "functionCall" in part:
                pending.add(call_key(part["functionCall"]))
            elif "functionResponse" in part:
                if call_key(part["functionResponse"]) not in pending:
                    faults.append(f"{index}: answers no call")
                pending.discard(call_key(part["functionResponse"]))
        if role == "user" and pending:
            faults.append(f"{index}: calls without a result")
    return faults


def call_key(call: dict[str, Any]) -> str:
    """What pairs a call and its response: Gemini needs no ids."""
    return call.get("id") or call["name"]


CHECKS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "openai-chat": check_chat,
    "openai-responses": check_responses,
    "anthropic": check_anthropic,
    "gemini": check_gemini,
}

Loop = Callable[[Conversation, str], bytes]

LOOPS: dict[str, Loop] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
}
