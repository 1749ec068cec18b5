"""Bodies of Chat Completions."""

from __future__ import annotations

from typing import Any

from strategies.bodies.pen import MODELS, PEOPLE, Body, Pen, schema
from strategies.messages import PNG

CHAT_SETTINGS: dict[str, Any] = {
    "max_completion_tokens": (100, 5_000, 0, 2_000_000),
    "max_tokens": (300, -1),
    "temperature": (0.0, 0.5, 1.5),
    "top_p": (0.9,),
    "seed": (7,),
    "presence_penalty": (0.1,),
    "frequency_penalty": (0.2,),
    "logprobs": (True, False),
    "n": (1, 2),
    "stop": ("END", ["END", "STOP"], "\n"),
    "stream": (True, False),
    "stream_options": ({"include_usage": True},),
    "parallel_tool_calls": (True, False),
    "verbosity": ("low",),
    "service_tier": ("auto", "flex"),
    "prompt_cache_key": (lambda pen: pen.words("key"),),
    "prompt_cache_retention": ("24h",),
    "safety_identifier": (lambda pen: pen.words("safe"),),
    "store": (True, False),
    "user": (lambda pen: pen.words("user"),),
    "metadata": (lambda pen: {"run": pen.words("run")},),
    "reasoning_effort": ("none", "minimal", "medium", "max", lambda pen: pen.words("ultra")),
    "response_format": (
        {"type": "text"},
        {"type": "json_object"},
        lambda pen: {
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "schema": schema(pen),
                "strict": pen.one(True, False),
            },
        },
    ),
    "tool_choice": ("auto", "none", "required", lambda pen: chat_choice(pen)),
}
HOSTS_SETTINGS: dict[str, Any] = {
    "reasoning": (
        {"effort": "high"},
        {"max_tokens": 2_000},
        {"effort": "low", "exclude": True},
        {"enabled": True},
        {"enabled": False},
        {"effort": "none"},
    ),
    "thinking": (
        {"type": "enabled", "budget_tokens": 4_000},
        {"type": "enabled"},
        {"type": "disabled"},
        {"type": "adaptive"},
    ),
    "top_k": (20,),
    "min_p": (0.05,),
    "repetition_penalty": (1.1,),
    "provider": (lambda pen: {"order": [pen.words("Host")]},),
    "transforms": ([], ["middle-out"]),
    "usage": ({"include": True},),
}
"""What hosts other than OpenAI take besides."""
MARKS = ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"})


def chat_choice(pen: Pen) -> Any:
    """A tool that must be called, or some to choose among."""
    named: list[Body] = [{"type": kind, kind: {"name": name}} for name, _, kind in pen.tools]
    if not named:
        return "required"
    allowed = {"mode": pen.one("auto", "required"), "tools": named}
    return pen.one(named[0], {"type": "allowed_tools", "allowed_tools": allowed})


def chat_body(pen: Pen) -> Body:
    model = pen.one(*MODELS["openai-chat"])
    pen.hosted = not model.startswith("gpt")
    messages: list[Body] = []
    tools = [chat_tool(pen) for _ in range(pen.one(0, 0, 1, 2, 3))]
    if pen.chance(2):
        messages.append({"role": pen.one("system", "developer"), "content": chat_system(pen)})
    for _ in range(pen.one(1, 1, 2, 3)):
        messages.extend(chat_turn(pen))
    body: Body = {"model": model, "messages": pen.later(messages)}
    if tools:
        body["tools"] = tools
    hosts = pen.some(HOSTS_SETTINGS, most=2) if pen.hosted else {}
    return {**body, **pen.some(CHAT_SETTINGS), **hosts, **pen.extra()}


def chat_mark(pen: Pen) -> Body:
    """A cache breakpoint as routers hand it on to Claude."""
    return {"cache_control": pen.one(*MARKS)} if pen.hosted and pen.chance(4) else {}


def chat_system(pen: Pen) -> Any:
    if not pen.hosted or pen.chance(2):
        return pen.words("System")
    return [{"type": "text", "text": pen.words("System"), **chat_mark(pen)}]


def chat_thoughts(pen: Pen) -> Body:
    """The thinking of a message, as other hosts than OpenAI give it back."""
    if not pen.hosted or pen.chance(2):
        return {}
    details = [{"type": "reasoning.text", "text": pen.words("Hm"), "signature": "c2ln", "index": 0}]
    return pen.one(
        {"reasoning_content": pen.words("Hm")},
        {"reasoning": pen.words("Hm")},
        {"reasoning": pen.words("Hm"), "reasoning_details": details},
    )


def chat_tool(pen: Pen) -> Body:
    name = pen.tools[-1][0] if pen.tools and pen.chance(8) else pen.name()
    if pen.chance(3):
        pen.tools.append((name, None, "custom"))
        custom: Body = {"name": name, "description": pen.words("Custom")}
        if pen.chance(2):
            grammar = {"definition": pen.words("start: /a/"), "syntax": "lark"}
            custom["format"] = {"type": "grammar", "grammar": grammar}
        return {"type": "custom", "custom": custom, **chat_mark(pen)}
    pen.tools.append((name, None, "function"))
    function: Body = {"name": name, "description": pen.words("Function")}
    if pen.chance(2):
        function["parameters"] = schema(pen)
    if pen.chance(3):
        function["strict"] = pen.one(True, False)
    return {"type": "function", "function": function, **chat_mark(pen)}


def chat_turn(pen: Pen) -> list[Body]:
    asked: Body = {"role": "user", "content": chat_content(pen), **chat_mark(pen)}
    if pen.chance(3):
        asked["name"] = pen.one(*PEOPLE)
    turn = [asked]
    if pen.chance(2):
        calls = [chat_call(pen) for _ in range(pen.one(1, 1, 2))]
        said: Body = {"role": "assistant", "content": pen.one(None, pen.words("Let me see"))}
        turn.append({**said, **chat_thoughts(pen), "tool_calls": calls})
        turn.extend(
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "content": chat_result(pen),
                **chat_mark(pen),
            }
            for call in calls
        )
    if pen.chance(2):
        said = {"role": "assistant", "content": pen.words("Answer"), **chat_thoughts(pen)}
        if pen.chance(4):
            said["name"] = "Bob"
        if pen.chance(6):
            said["provider_specific_fields"] = {"refusal": None}
        if pen.chance(6):
            said = {"role": "assistant", "content": None, "refusal": pen.words("No")}
        turn.append(said)
        turn.append({"role": "user", "content": pen.words("And")})
    if pen.chance(8):
        old = {"name": "old", "arguments": "{}"}
        turn.append({"role": "assistant", "content": None, "function_call": old})
        turn.append({"role": "function", "name": "old", "content": pen.words("Result")})
    if pen.chance(5):
        turn.append({"role": "system", "content": pen.words("Note"), **pen.extra()})
    return turn


def chat_content(pen: Pen) -> Any:
    if pen.chance(2):
        return pen.words("Question")
    parts: list[Body] = [{"type": "text", "text": pen.words("Question"), **chat_mark(pen)}]
    url = f"data:image/png;base64,{PNG}"
    if pen.chance(2):
        image: Body = {"url": pen.one(url, "https://example.com/a.png")}
        if pen.chance(2):
            image["detail"] = "low"
        parts.append({"type": "image_url", "image_url": image, **chat_mark(pen)})
    if pen.chance(4):
        file = {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": pen.words("a.pdf")}
        parts.append({"type": "file", "file": pen.one(file, {"file_id": pen.words("file")})})
    if pen.chance(4):
        parts[0]["prompt_cache_breakpoint"] = {"mode": "explicit"}
    return parts


def chat_result(pen: Pen) -> Any:
    if not pen.hosted or pen.chance(2):
        return pen.words("Result")
    return [{"type": "text", "text": pen.words("Result"), **chat_mark(pen)}]


def chat_call(pen: Pen) -> Body:
    name, _, kind = pen.called()
    if kind == "custom":
        custom = {"name": name, "input": pen.words("1 +")}
        return {"id": pen.id(), "type": "custom", "custom": custom}
    arguments = pen.one("{}", '{"q": "x"}', f'{{"q":"{pen.words("x")}"}}', "not json")
    call: Body = {
        "id": pen.id(),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    if pen.hosted and pen.chance(4):  # Gemini's API for OpenAI's clients
        call["extra_content"] = {"google": {"thought_signature": "c2ln"}}
    return call
