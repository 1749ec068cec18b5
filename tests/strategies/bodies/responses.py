"""Bodies of Responses."""

from __future__ import annotations

from typing import Any

from strategies.bodies.pen import MODELS, Body, Pen, schema
from strategies.messages import PNG

DETAILS = ("auto", "low", "original")
RESPONSES_SETTINGS: dict[str, Any] = {
    "max_output_tokens": (100, 5_000, -1, 2_000_000),
    "temperature": (0.5,),
    "top_p": (0.9,),
    "top_logprobs": (2,),
    "stream": (True, False),
    "parallel_tool_calls": (True, False),
    "max_tool_calls": (3,),
    "service_tier": ("auto", "flex"),
    "prompt_cache_key": (lambda pen: pen.words("key"),),
    "prompt_cache_retention": ("24h",),
    "safety_identifier": (lambda pen: pen.words("safe"),),
    "store": (True, False),
    "user": (lambda pen: pen.words("user"),),
    "metadata": (lambda pen: {"run": pen.words("run")},),
    "truncation": ("auto",),
    "include": (["reasoning.encrypted_content"],),
    "reasoning": (
        {"effort": "high"},
        {"effort": "minimal", "summary": "auto"},
        {"summary": "detailed"},
    ),
    "text": (
        {"verbosity": "low"},
        {"format": {"type": "text"}},
        {"format": {"type": "json_object"}},
        lambda pen: {
            "format": {"type": "json_schema", "name": "answer", "schema": schema(pen)},
            "verbosity": "high",
        },
    ),
    "tool_choice": ("auto", "none", "required", lambda pen: responses_choice(pen)),
    "client_metadata": (lambda pen: {"session": pen.words("session")},),
}


def responses_choice(pen: Pen) -> Any:
    """A tool that must be called, or some to choose among, hosted ones too."""
    named: list[Body] = [{"type": kind, "name": name} for name, _, kind in pen.tools]
    if not named:
        return {"type": "web_search"}
    tools = [*named, {"type": "web_search"}] if pen.chance(4) else named
    allowed = {"type": "allowed_tools", "mode": pen.one("auto", "required"), "tools": tools}
    return pen.one(named[0], allowed)


def responses_body(pen: Pen) -> Body:
    tools = [responses_tool(pen) for _ in range(pen.one(0, 0, 1, 2, 3))]
    items: list[Body] = []
    if pen.chance(4):
        added = [namespace(pen)]
        items.append({"type": "additional_tools", "role": "developer", "tools": added})
    for _ in range(pen.one(1, 1, 2, 3)):
        items.extend(responses_turn(pen))
    body: Body = {"model": pen.one(*MODELS["openai-responses"]), "input": pen.later(items)}
    if pen.chance(8):
        body["input"] = pen.words("Question")
    if pen.chance(2):
        body["instructions"] = pen.words("System")
    if pen.chance(8):
        body["previous_response_id"] = "resp_1"
    if tools:
        body["tools"] = tools
    return {**body, **pen.some(RESPONSES_SETTINGS), **pen.extra()}


def responses_tool(pen: Pen) -> Body:
    kind = pen.one("function", "function", "custom", "namespace", "hosted")
    if kind == "namespace":
        return namespace(pen)
    if kind == "hosted":
        return pen.one(
            {"type": "web_search"},
            {"type": "web_search", "filters": {"allowed_domains": [pen.words("x.org")]}},
            {"type": "code_interpreter", "container": {"type": "auto"}},
            {"type": "file_search", "vector_store_ids": [pen.words("vs")]},
            {"type": "mcp", "server_label": pen.words("m"), "server_url": "https://x.org/mcp"},
            {"type": "local_shell"},
        )
    return own_tool(pen, kind, None)


def namespace(pen: Pen) -> Body:
    name = pen.name("space")
    inner = [own_tool(pen, pen.one("function", "custom"), name) for _ in range(pen.one(1, 1, 2))]
    return {"type": "namespace", "name": name, "description": pen.words("Space"), "tools": inner}


def own_tool(pen: Pen, kind: str, space: str | None) -> Body:
    name = pen.name()
    pen.tools.append((name, space, kind))
    tool: Body = {"type": kind, "name": name, "description": pen.words("Tool")}
    if pen.chance(6):
        tool["name"] = pen.one(f"{name} v2", name + "x" * 60)
        pen.tools[-1] = (tool["name"], space, kind)
    if kind == "custom":
        if pen.chance(3):
            definition = pen.words("start: /a/")
            tool["format"] = {"type": "grammar", "syntax": "lark", "definition": definition}
    else:
        tool["parameters"] = pen.one(schema(pen), schema(pen), {}, None)
        tool["strict"] = pen.one(False, False, True, None)
    if pen.chance(6):
        tool["defer_loading"] = True
    return tool


def responses_turn(pen: Pen) -> list[Body]:
    turn: list[Body] = [{"role": "user", "content": responses_content(pen), **marked(pen)}]
    if pen.chance(4):
        turn.insert(0, {"role": pen.one("system", "developer"), "content": pen.words("Note")})
    if pen.chance(2):
        for _ in range(pen.one(1, 1, 2)):
            turn.extend(responses_exchange(pen))
    if pen.chance(4):
        query = {"type": "search", "query": pen.words("query")}
        found = {"type": "web_search_call", "id": f"ws_{pen.name()}", "status": "completed"}
        turn.append({**found, "action": query})
    if pen.chance(2):
        text = {"type": "output_text", "text": pen.words("Answer"), "annotations": []}
        said: Body = {"role": "assistant", "content": pen.one(pen.words("Answer"), [text])}
        if pen.chance(3):
            said = {"role": "assistant", "content": [text], "type": "message"}
            said |= {"id": f"msg_{pen.name()}", "status": "completed", "phase": "commentary"}
        turn += [said, {"role": "user", "content": pen.words("And")}]
    return turn


def marked(pen: Pen) -> Body:
    """What Codex adds to its messages."""
    if not pen.chance(6):
        return {}
    return {"internal_chat_message_metadata_passthrough": {"turn": pen.words("turn")}}


def responses_content(pen: Pen) -> Any:
    if pen.chance(2):
        return pen.words("Question")
    parts: list[Body] = [{"type": "input_text", "text": pen.words("Question")}]
    if pen.chance(2):
        url = pen.one(f"data:image/png;base64,{PNG}", "https://example.com/a.png")
        parts.append({"type": "input_image", "image_url": url, "detail": pen.one(*DETAILS)})
    if pen.chance(4):
        data = "data:application/pdf;base64,JVBERi0="
        file = {"file_data": data, "filename": pen.words("a.pdf")}
        parts.append({"type": "input_file", **pen.one(file, {"file_id": pen.words("file")})})
    return parts


def responses_exchange(pen: Pen) -> list[Body]:
    name, space, kind = pen.called()
    id = pen.id()
    call: Body = {"type": "function_call", "call_id": id, "name": name, "arguments": "{}"}
    if kind == "custom":
        call = {"type": "custom_tool_call", "call_id": id, "name": name}
        call["input"] = pen.words("1 +")
    if space and pen.chance(2):
        call["namespace"] = space
    output: Any = pen.one(pen.words("Result"), [{"type": "input_text", "text": pen.words("Out")}])
    result = {"type": f"{call['type']}_output", "call_id": id, "output": output}
    if pen.chance(6):
        reasoning = {"type": "reasoning", "id": f"rs_{pen.name()}", "summary": []}
        reasoning["encrypted_content"] = pen.words("sealed")
        return [reasoning, {**call, "id": f"fc_{pen.name()}"}, result]
    return [call, result]
