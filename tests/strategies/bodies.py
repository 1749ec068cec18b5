"""Request bodies as clients of the four APIs send them: every kind of tool, block and setting.

Texts are numbered (`¶7`), so that one that is missing is missed. Most bodies are ones their API
takes; some have ids that are repeated or empty, hosted blocks without their partner, an error
without words, or a field that nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

from hypothesis import strategies as st

from strategies.messages import PNG

Body: TypeAlias = dict[str, Any]

MODELS = {
    "anthropic": ("claude-sonnet-4-5", "claude-opus-4-7", "claude-opus-5", "claude-sonnet-5-5"),
    "gemini": ("gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-3.8-flash"),
    "openai-chat": ("gpt-4o", "gpt-5.6-sol", "deepseek-chat"),
    "openai-responses": ("gpt-4o", "gpt-5.6-sol"),
}
IDS = ("a", "a", "b", "call_1", "call:2", "")
PEOPLE = ("Ada", "Ada", "Olena_K")
SCHEMAS: tuple[Body, ...] = (
    {"type": "object", "properties": {}},
    {
        "type": "object",
        "properties": {"q": {"type": "string", "description": "what"}, "n": {"type": "integer"}},
        "required": ["q", "n"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "node": {"$ref": "#/$defs/Node"},
            "kind": {"const": "tree"},
            "when": {"type": ["string", "null"], "format": "date"},
            "size": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
        },
        "required": ["node"],
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            }
        },
    },
)
PROTO: Body = {
    "type": "OBJECT",
    "properties": {"q": {"type": "STRING", "nullable": True, "enum": ["a", "b"]}},
    "propertyOrdering": ["q"],
}


class Pen:
    """Draws one body, piece by piece."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.numbers = count(1)
        self.tools: list[tuple[str, str | None, str]] = []
        """The caller's tools that the request defines: name, namespace, kind."""

    def words(self, before: str = "Words") -> str:
        return f"{before} ¶{next(self.numbers)}"

    def name(self, before: str = "tool") -> str:
        return f"{before}_{next(self.numbers)}"

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == one_in

    def one(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def some(self, options: dict[str, Any], most: int = 6) -> Body:
        """Some of the fields, each with one of its values; texts among them are numbered."""
        names = self.draw(st.lists(st.sampled_from(sorted(options)), max_size=most, unique=True))
        return {name: self.value(options[name]) for name in names}

    def value(self, values: Any) -> Any:
        chosen = self.draw(st.sampled_from(values)) if isinstance(values, tuple) else values
        return chosen(self) if callable(chosen) else chosen

    def extra(self) -> Body:
        """A field that nobody knows, rarely."""
        return {"x_trace": self.words("trace")} if self.chance(12) else {}

    def id(self) -> str:
        return self.one(*IDS) if self.chance(3) else f"call_{next(self.numbers)}"

    def called(self) -> tuple[str, str | None, str]:
        """A tool to call: one that is defined, or one that no longer is."""
        return self.one(*self.tools, ("gone", None, "function"))


def schema(pen: Pen) -> Body:
    return pen.one(*SCHEMAS)


# --- Chat Completions ------------------------------------------------------------------------

CHAT_SETTINGS: dict[str, Any] = {
    "max_completion_tokens": (100, 5_000),
    "max_tokens": (300,),
    "temperature": (0.0, 0.5, 1.5),
    "top_p": (0.9,),
    "seed": (7,),
    "presence_penalty": (0.1,),
    "frequency_penalty": (0.2,),
    "logprobs": (True, False),
    "n": (1, 2),
    "stop": ("END", ["END", "STOP"]),
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


def chat_choice(pen: Pen) -> Any:
    """A tool that must be called, or some to choose among."""
    named: list[Body] = [{"type": kind, kind: {"name": name}} for name, _, kind in pen.tools]
    if not named:
        return "required"
    allowed = {"mode": pen.one("auto", "required"), "tools": named}
    return pen.one(named[0], {"type": "allowed_tools", "allowed_tools": allowed})


def chat_body(pen: Pen) -> Body:
    messages: list[Body] = []
    tools = [chat_tool(pen) for _ in range(pen.one(0, 0, 1, 2, 3))]
    if pen.chance(2):
        messages.append({"role": pen.one("system", "developer"), "content": pen.words("System")})
    for _ in range(pen.one(1, 1, 2, 3)):
        messages.extend(chat_turn(pen))
    body: Body = {"model": pen.one(*MODELS["openai-chat"]), "messages": messages}
    if tools:
        body["tools"] = tools
    return {**body, **pen.some(CHAT_SETTINGS), **pen.extra()}


def chat_tool(pen: Pen) -> Body:
    name = pen.name()
    if pen.chance(3):
        pen.tools.append((name, None, "custom"))
        custom: Body = {"name": name, "description": pen.words("Custom")}
        if pen.chance(2):
            grammar = {"definition": pen.words("start: /a/"), "syntax": "lark"}
            custom["format"] = {"type": "grammar", "grammar": grammar}
        return {"type": "custom", "custom": custom}
    pen.tools.append((name, None, "function"))
    function: Body = {"name": name, "description": pen.words("Function")}
    if pen.chance(2):
        function["parameters"] = schema(pen)
    if pen.chance(3):
        function["strict"] = pen.one(True, False)
    return {"type": "function", "function": function}


def chat_turn(pen: Pen) -> list[Body]:
    asked: Body = {"role": "user", "content": chat_content(pen)}
    if pen.chance(3):
        asked["name"] = pen.one(*PEOPLE)
    turn = [asked]
    if pen.chance(2):
        calls = [chat_call(pen) for _ in range(pen.one(1, 1, 2))]
        said: Body = {"role": "assistant", "content": pen.one(None, pen.words("Let me see"))}
        turn.append({**said, "tool_calls": calls})
        turn.extend(
            {"role": "tool", "tool_call_id": call["id"], "content": pen.words("Result")}
            for call in calls
        )
    if pen.chance(2):
        said = {"role": "assistant", "content": pen.words("Answer")}
        if pen.chance(4):
            said["name"] = "Bob"
        if pen.chance(6):
            said = {"role": "assistant", "content": None, "refusal": pen.words("No")}
        turn.append(said)
        turn.append({"role": "user", "content": pen.words("And")})
    if pen.chance(5):
        turn.append({"role": "system", "content": pen.words("Note"), **pen.extra()})
    return turn


def chat_content(pen: Pen) -> Any:
    if pen.chance(2):
        return pen.words("Question")
    parts: list[Body] = [{"type": "text", "text": pen.words("Question")}]
    url = f"data:image/png;base64,{PNG}"
    if pen.chance(2):
        image: Body = {"url": pen.one(url, "https://example.com/a.png")}
        if pen.chance(2):
            image["detail"] = "low"
        parts.append({"type": "image_url", "image_url": image})
    if pen.chance(4):
        file = {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": pen.words("a.pdf")}
        parts.append({"type": "file", "file": pen.one(file, {"file_id": pen.words("file")})})
    if pen.chance(4):
        parts[0]["prompt_cache_breakpoint"] = {"mode": "explicit"}
    return parts


def chat_call(pen: Pen) -> Body:
    name, _, kind = pen.called()
    if kind == "custom":
        custom = {"name": name, "input": pen.words("1 +")}
        return {"id": pen.id(), "type": "custom", "custom": custom}
    arguments = pen.one("{}", '{"q": "x"}', f'{{"q":"{pen.words("x")}"}}', "not json")
    return {
        "id": pen.id(),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


# --- Responses -------------------------------------------------------------------------------

RESPONSES_SETTINGS: dict[str, Any] = {
    "max_output_tokens": (100, 5_000),
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
    body: Body = {"model": pen.one(*MODELS["openai-responses"]), "input": items}
    if pen.chance(8):
        body["input"] = pen.words("Question")
    if pen.chance(2):
        body["instructions"] = pen.words("System")
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
    if kind == "custom":
        if pen.chance(3):
            definition = pen.words("start: /a/")
            tool["format"] = {"type": "grammar", "syntax": "lark", "definition": definition}
    else:
        tool["parameters"] = schema(pen)
        tool["strict"] = pen.one(False, False, True)
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
        parts.append({"type": "input_image", "image_url": url, "detail": pen.one("auto", "low")})
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


# --- Anthropic -------------------------------------------------------------------------------

EPHEMERAL = {"type": "ephemeral"}
ANTHROPIC_SETTINGS: dict[str, Any] = {
    "temperature": (0.5, 1.0),
    "top_p": (0.9,),
    "top_k": (3,),
    "stream": (True, False),
    "stop_sequences": (["END"], ["A", "B", "C", "D", "E", "F"]),
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
        "max_tokens": 4_000,
        "messages": messages,
    }
    if pen.chance(2):
        block = {"type": "text", "text": pen.words("System"), **cached(pen)}
        body["system"] = pen.one(pen.words("System"), [block])
    if tools:
        body["tools"] = tools
    return {**body, **pen.some(ANTHROPIC_SETTINGS), **pen.extra()}


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
        {"type": "content", "content": [{"type": "text", "text": pen.words("Chunk")}]},
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
        "content": [{"type": "text", "text": pen.words("Snippet")}],
        "citations": {"enabled": pen.one(True, False)},
    }


def anthropic_result(pen: Pen, id: str) -> Body:
    result: Body = {"type": "tool_result", "tool_use_id": id, **cached(pen)}
    content = pen.one(
        pen.words("Result"), "", [{"type": "text", "text": pen.words("Out")}], [document(pen)]
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


# --- Gemini ----------------------------------------------------------------------------------

GENERATION: dict[str, Any] = {
    "maxOutputTokens": (100, 5_000),
    "temperature": (0.5, 1.5),
    "topP": (0.9,),
    "topK": (3,),
    "seed": (7,),
    "presencePenalty": (0.1,),
    "frequencyPenalty": (0.2,),
    "candidateCount": (1, 2),
    "stopSequences": (["END"],),
    "responseLogprobs": (True,),
    "mediaResolution": ("MEDIA_RESOLUTION_LOW",),
    "thinkingConfig": (
        {"thinkingBudget": 2_000},
        {"thinkingBudget": -1, "includeThoughts": True},
        {"thinkingLevel": "low"},
        {"includeThoughts": False},
    ),
    "responseMimeType": ("application/json", "text/plain"),
    "responseJsonSchema": (schema,),
    "responseSchema": (PROTO,),
    "responseModalities": (["TEXT"],),
}
GEMINI_SETTINGS: dict[str, Any] = {
    "toolConfig": (
        {"functionCallingConfig": {"mode": "AUTO"}},
        {"functionCallingConfig": {"mode": "ANY"}},
        {"functionCallingConfig": {"mode": "NONE"}},
        lambda pen: {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": names(pen)}},
        lambda pen: {"retrievalConfig": {"languageCode": pen.words("uk")}},
    ),
    "safetySettings": ([{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],),
    "labels": (lambda pen: {"team": pen.words("team")},),
    "serviceTier": ("standard", "flex"),
    "store": (True, False),
}


def names(pen: Pen) -> list[str]:
    return [name for name, _, _ in pen.tools]


def gemini_body(pen: Pen) -> Body:
    tools = [gemini_group(pen) for _ in range(pen.one(0, 0, 1, 2))]
    contents: list[Body] = []
    for _ in range(pen.one(1, 1, 2, 3)):
        contents.extend(gemini_turn(pen))
    body: Body = {"contents": contents}
    if pen.chance(2):
        body["systemInstruction"] = {"parts": [{"text": pen.words("System")}]}
    if tools:
        body["tools"] = tools
    if pen.chance(2):
        body["generationConfig"] = pen.some(GENERATION)
    return {**body, **pen.some(GEMINI_SETTINGS, 2), **pen.extra()}


def gemini_group(pen: Pen) -> Body:
    if pen.chance(3):
        return pen.one(
            {"googleSearch": {}},
            {"codeExecution": {}},
            {"urlContext": {}},
            {"googleMaps": {"enableWidget": True}},
        )
    return {"functionDeclarations": [gemini_function(pen) for _ in range(pen.one(1, 2))]}


def gemini_function(pen: Pen) -> Body:
    name = pen.name(pen.one("tool", "tool.v"))
    pen.tools.append((name, None, "function"))
    function: Body = {"name": name, "description": pen.words("Tool")}
    parameters = pen.one({}, {"parameters": PROTO}, {"parametersJsonSchema": schema(pen)})
    if pen.chance(5):
        function["behavior"] = "NON_BLOCKING"
    return {**function, **parameters}


def gemini_turn(pen: Pen) -> list[Body]:
    turn: list[Body] = [{"role": "user", "parts": gemini_parts(pen)}]
    if pen.chance(2):
        calls = [
            {"name": pen.called()[0], "args": {"q": pen.words("x")}} for _ in range(pen.one(1, 2))
        ]
        ids = [{"id": pen.id()} if pen.chance(2) else {} for _ in calls]
        signed = {"thoughtSignature": "c2lnbmVk"} if pen.chance(2) else {}
        made: list[Body] = [
            {"functionCall": {**call, **id}} for call, id in zip(calls, ids, strict=True)
        ]
        made[0] |= signed
        turn.append({"role": "model", "parts": [*gemini_thought(pen), *made]})
        output = {"output": pen.words("Result")}
        responses = [
            {
                "functionResponse": {
                    "name": call["name"],
                    "response": pen.one(output, {"error": pen.words("Failed")}, {"a": 1}),
                    **id,
                }
            }
            for call, id in zip(calls, ids, strict=True)
        ]
        turn.append({"role": "user", "parts": responses})
    if pen.chance(2):
        said: list[Body] = [*gemini_thought(pen), {"text": pen.words("Answer")}]
        if pen.chance(4):
            said.append({"executableCode": {"language": "PYTHON", "code": pen.words("1 +")}})
            ran = {"outcome": "OUTCOME_OK", "output": pen.words("2")}
            said.append({"codeExecutionResult": ran})
        turn.append({"role": "model", "parts": said})
        turn.append({"role": "user", "parts": [{"text": pen.words("And")}]})
    return turn


def gemini_thought(pen: Pen) -> list[Body]:
    return [{"text": pen.words("Hm"), "thought": True}] if pen.chance(4) else []


def gemini_parts(pen: Pen) -> list[Body]:
    parts: list[Body] = [{"text": pen.words("Question")}]
    if pen.chance(3):
        parts.append({"inlineData": {"mimeType": "image/png", "data": PNG}})
    if pen.chance(5):
        parts.append({"fileData": {"mimeType": "video/mp4", "fileUri": "https://x.org/v.mp4"}})
        parts[-1]["videoMetadata"] = {"startOffset": "1s"}
    if pen.chance(5):
        uri = "https://generativelanguage.googleapis.com/v1beta/files/" + pen.name("f")
        parts.append({"fileData": {"mimeType": "application/pdf", "fileUri": uri}})
    return parts


WRITERS: dict[str, Callable[[Pen], Body]] = {
    "anthropic": anthropic_body,
    "gemini": gemini_body,
    "openai-chat": chat_body,
    "openai-responses": responses_body,
}


@st.composite
def bodies(draw: st.DrawFn, api: str) -> Body:
    """Request bodies of an API."""
    return WRITERS[api](Pen(draw))
