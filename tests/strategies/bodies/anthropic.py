"""Bodies of Anthropic's API."""

from __future__ import annotations

from typing import Any

from strategies.bodies.pen import MODELS, Body, Pen, schema
from strategies.messages import PNG

EPHEMERAL = {"type": "ephemeral"}


ANTHROPIC_SETTINGS: dict[str, Any] = {
    "temperature": (0.5, 1.0, 1.0),
    "top_p": (0.9,),
    "top_k": (3,),
    "stream": (True, False),
    "stop_sequences": (["END"], ["A", "B", "C", "D", "E", "F"], ["\n", "END"]),
    "metadata": (lambda pen: {"user_id": pen.words("user")},),
    "service_tier": ("auto", "standard_only"),
    "thinking": (
        {"type": "enabled", "budget_tokens": 2_000},
        {"type": "adaptive"},
        {"type": "adaptive", "display": "summarized"},
        {"type": "disabled"},
    ),
    "output_config": (
        {"effort": "medium"},
        lambda pen: {"format": {"type": "json_schema", "schema": schema(pen)}},
        {"task_budget": {"type": "tokens", "total": 50_000}},
    ),
    "tool_choice": (
        {"type": "auto"},
        {"type": "none"},
        {"type": "any"},
        {"type": "auto", "disable_parallel_tool_use": True},
        lambda pen: {"type": "tool", "name": pen.called()[0]},
    ),
    "cache_control": (EPHEMERAL,),
    "container": (lambda pen: pen.words("container"),),
    "context_management": ({"edits": [{"type": "clear_tool_uses_20250919"}]},),
}


def anthropic_body(pen: Pen) -> Body:
    tools = [anthropic_tool(pen) for _ in range(pen.one(0, 0, 1, 2, 3))]
    messages: list[Body] = []
    for _ in range(pen.one(1, 1, 2, 3)):
        messages.extend(anthropic_turn(pen))
    body: Body = {
        "model": pen.one(*MODELS["anthropic"]),
        "max_tokens": pen.one(*[4_000] * 9, 0, -1, 2_000_000),
        "messages": messages,
    }
    messages[:] = pen.later(messages)
    if pen.chance(2):
        block = {"type": "text", "text": pen.words("System"), **cached(pen)}
        body["system"] = pen.one(pen.words("System"), [block])
    if tools:
        body["tools"] = tools
    if pen.chance(6):
        messages.append({"role": "assistant", "content": [*thought(pen), said_so_far(pen)]})
    return {**body, **pen.some(ANTHROPIC_SETTINGS), **pen.extra()}


def said_so_far(pen: Pen) -> Body:
    """The beginning of an answer, which the model goes on with."""
    return {"type": "text", "text": pen.words("So far")}


def cached(pen: Pen) -> Body:
    if not pen.chance(5):
        return {}
    return {"cache_control": pen.one(EPHEMERAL, {"type": "ephemeral", "ttl": "1h"})}


def anthropic_tool(pen: Pen) -> Body:
    if pen.chance(3):
        return pen.one(
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
            {"type": "code_execution_20250825", "name": "code_execution"},
            {"type": "web_fetch_20250910", "name": "web_fetch"},
            {"type": "bash_20250124", "name": "bash"},
        )
    name = pen.name()
    pen.tools.append((name, None, "function"))
    tool: Body = {"name": name, "description": pen.words("Tool"), "input_schema": schema(pen)}
    if pen.chance(4):
        tool["defer_loading"] = True
    if pen.chance(4):
        tool["type"] = "custom"
    return {**tool, **cached(pen)}


def anthropic_turn(pen: Pen) -> list[Body]:
    turn: list[Body] = [{"role": "user", "content": anthropic_content(pen)}]
    if pen.chance(2):
        calls = [
            {"type": "tool_use", "id": pen.id(), "name": pen.called()[0], "input": {"q": 1}}
            for _ in range(pen.one(1, 1, 2))
        ]
        said = [{"type": "text", "text": pen.words("Let me see")}] if pen.chance(2) else []
        turn.append({"role": "assistant", "content": [*thought(pen), *said, *calls]})
        results = [anthropic_result(pen, call["id"]) for call in calls]
        after = [{"type": "text", "text": pen.words("Also")}] if pen.chance(3) else []
        turn.append({"role": "user", "content": [*results, *after]})
    if pen.chance(2):
        turn.append({"role": "assistant", "content": anthropic_answer(pen)})
        turn.append({"role": "user", "content": pen.words("And")})
    return turn


def thought(pen: Pen) -> list[Body]:
    if not pen.chance(4):
        return []
    return [{"type": "thinking", "thinking": pen.words("Hm"), "signature": pen.words("sig")}]


def anthropic_content(pen: Pen) -> Any:
    if pen.chance(2):
        return pen.words("Question")
    blocks: list[Body] = [{"type": "text", "text": pen.words("Question"), **cached(pen)}]
    if pen.chance(2):
        blocks.append(document(pen))
    if pen.chance(3):
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        blocks.append({"type": "image", "source": source, **cached(pen)})
    if pen.chance(4):
        blocks.append(search_result(pen))
    return blocks


def document(pen: Pen) -> Body:
    source = pen.one(
        {"type": "text", "media_type": "text/plain", "data": pen.words("The text")},
        {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
        {"type": "url", "url": "https://example.com/a.pdf"},
        {"type": "file", "file_id": pen.words("file")},
        {"type": "content", "content": [*blank(pen), {"type": "text", "text": pen.words("Chunk")}]},
        {"type": "content", "content": [*blank(pen), {"type": "text", "text": " "}]},
    )
    block: Body = {"type": "document", "source": source, **cached(pen)}
    if pen.chance(2):
        block["title"] = pen.words("Title")
    if pen.chance(2):
        block["context"] = pen.words("Context")
    if pen.chance(2):
        block["citations"] = {"enabled": True}
    return block


def search_result(pen: Pen) -> Body:
    return {
        "type": "search_result",
        "source": "https://example.com",
        "title": pen.words("Found"),
        "content": [{"type": "text", "text": pen.words("Snippet")}, *blank(pen)],
        "citations": {"enabled": pen.one(True, False)},
    }


def blank(pen: Pen) -> list[Body]:
    """Now and then a text that the API refuses."""
    return [{"type": "text", "text": pen.one("", " \n")}] if pen.chance(8) else []


def anthropic_result(pen: Pen, id: str) -> Body:
    result: Body = {"type": "tool_result", "tool_use_id": id, **cached(pen)}
    content = pen.one(
        pen.words("Result"),
        "",
        [{"type": "text", "text": pen.words("Out")}],
        [document(pen)],
        [search_result(pen)],
    )
    if content:
        result["content"] = content
    if pen.chance(4):
        result["is_error"] = pen.one(True, False)
    return result


def anthropic_answer(pen: Pen) -> Any:
    if pen.chance(2):
        return pen.words("Answer")
    blocks: list[Body] = []
    if pen.chance(2):
        id = f"srvtoolu_{pen.name()}"
        query = {"query": pen.words("query")}
        blocks.append({"type": "server_tool_use", "id": id, "name": "web_search", "input": query})
        page = {"type": "web_search_result", "url": "https://x.org", "title": pen.words("Page")}
        page |= {"encrypted_content": pen.words("sealed"), "page_age": None}
        if not pen.chance(5):
            blocks.append({"type": "web_search_tool_result", "tool_use_id": id, "content": [page]})
    cited: Body = {"type": "char_location", "cited_text": pen.words("cited"), "document_index": 0}
    cited |= {"document_title": None, "start_char_index": 0, "end_char_index": 5}
    text: Body = {"type": "text", "text": pen.words("Answer")}
    if pen.chance(3):
        text["citations"] = [cited]
    return [*blocks, text]
