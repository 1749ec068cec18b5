"""Chat Completions payloads for the tests: pieces, whole legal ones, and any other."""

from typing import Any

from hypothesis import strategies as st

from strategies.messages import json_values

GPT = "gpt-4o"
JSON = dict[str, Any]


def system(text: Any) -> JSON:
    return {"role": "system", "content": text}


def user(content: Any, **fields: Any) -> JSON:
    return {"role": "user", "content": content, **fields}


def assistant(content: Any, **fields: Any) -> JSON:
    return {"role": "assistant", "content": content, **fields}


def call(id: str, name: str = "calc", arguments: str = "{}") -> JSON:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*ids: str) -> JSON:
    return assistant(None, tool_calls=[call(id) for id in ids])


def result(id: str, content: Any = "4") -> JSON:
    return {"role": "tool", "tool_call_id": id, "content": content}


def body(*messages: JSON, model: str = GPT, **fields: Any) -> JSON:
    return {"model": model, "messages": list(messages), **fields}


def text(words: str, **fields: Any) -> JSON:
    return {"type": "text", "text": words, **fields}


def image(url: str = "https://example.com/a.png", **fields: Any) -> JSON:
    return {"type": "image_url", "image_url": {"url": url, **fields}}


TOOL = {"type": "function", "function": {"name": "calc", "parameters": {"type": "object"}}}
CUSTOM = {"type": "custom", "custom": {"name": "shell", "format": {"type": "text"}}}
MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
PDF = {
    "type": "file",
    "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
}

ACCEPTED = [
    body(user("hi")),
    body(system("s")),
    body({"role": "developer", "content": "be brief", "name": "ops"}, user("q"), model="gpt-5"),
    body(assistant("first"), user("a"), user("b"), assistant("1"), assistant("2")),
    body(system("s"), user("u"), assistant("a"), system("be brief"), user("q")),
    body(
        system([text("s", **MARK)]), user([text("u", **MARK), {**image(detail="low"), **MARK}, PDF])
    ),
    body(
        user([SOUND, text("what is said?")]),
        assistant(None, audio={"id": "audio_1"}),
        user("more"),
        model="gpt-audio",
    ),
    body(user([{"type": "file", "file": {"file_id": "file-1"}}])),
    body(user([image("data:image/png;base64,iVBORw0KGgo=")], name="alice")),
    body(
        user("q"),
        calling("a", "b"),
        result("b"),
        result("a"),
        assistant("done"),
        tools=[TOOL],
        tool_choice="auto",
    ),
    body(
        user("q"),
        {"role": "assistant", "tool_calls": [call("a")]},
        result("a", [text("4"), text("5")]),
    ),
    body(
        user("q"),
        assistant("let me see", tool_calls=[call("a", arguments='{ "b": 1.0 }')]),
        result("a"),
    ),
    body(
        user("q"),
        assistant(
            None,
            tool_calls=[{"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls"}}],
        ),
        result("a"),
        tools=[CUSTOM],
    ),
    body(user("q"), assistant(None, refusal="I cannot help"), user("why?")),
    body(
        user("q"),
        assistant([text("no: "), {"type": "refusal", "refusal": "I cannot"}], refusal=None),
        user("why?"),
    ),
    body(user("q"), assistant("a", annotations=[{"type": "url_citation"}], name="bot"), user("x")),
    body(user("q"), calling("a"), {**result("a"), "name": "calc"}),
    body(
        user("q"),
        assistant(None, function_call={"name": "f", "arguments": '{"a":1}'}),
        {"role": "function", "name": "f", "content": "4"},
        functions=[{"name": "f", "parameters": {"type": "object"}}],
        function_call={"name": "f"},
        model="gpt-4",
    ),
    body(
        user("q"),
        assistant(None, function_call={"name": "f", "arguments": "{}"}),
        {"role": "function", "name": "f", "content": None},
        model="gpt-4",
    ),
    body(user(""), assistant(""), user("again")),
    body(
        user("give me JSON"),
        tools=[
            {"type": "function", "function": {"name": "f", "description": "", "strict": None}},
            CUSTOM,
        ],
        tool_choice={
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "auto",
                "tools": [{"type": "function", "function": {"name": "f"}}],
            },
        },
        response_format={"type": "json_object"},
        parallel_tool_calls=False,
        max_completion_tokens=100,
        stop=["x"],
        logit_bias={"50256": -100},
        store=True,
        metadata={"a": "b"},
        modalities=["text"],
        moderation={"model": "omni-moderation-latest", "policy": {"input": {"mode": "block"}}},
        prediction={"type": "content", "content": "x"},
        prompt_cache_key="k",
        prompt_cache_options={"mode": "explicit", "ttl": "30m"},
        reasoning_effort=None,
        service_tier="flex",
        stream=True,
        stream_options={"include_usage": True},
        temperature=1,
        verbosity="medium",
        web_search_options={
            "search_context_size": "low",
            "user_location": {"type": "approximate", "approximate": {"city": "Kyiv"}},
        },
    ),
]


def same(payload: Any) -> Any:
    """A payload with one spelling for what means the same: a string is one text part."""
    if isinstance(payload, list):
        return [same(item) for item in payload]
    if not isinstance(payload, dict):
        return payload
    spelled = {key: same(value) for key, value in payload.items()}
    if "role" in spelled and isinstance(spelled.get("content"), str):
        spelled["content"] = [text(spelled["content"])]
    return spelled


# --- anything at all --------------------------------------------------------------------------

words = st.sampled_from(("", "q", "json", "\ud800", "{}", "a b", "й", "x" * 70)) | st.text(
    max_size=5
)
odd = json_values | words


def objects(
    _required: JSON | None = None, **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[JSON]:
    """Objects with some of these fields, now and then of a wrong type, and a few unknown ones."""
    optional = {
        name: st.one_of(strategy, strategy, strategy, odd) for name, strategy in fields.items()
    }
    optional |= dict.fromkeys(
        ("mood", "name", "cache_control", "index", "prompt_cache_breakpoint"), odd
    )
    required = _required or {}
    optional = {name: strategy for name, strategy in optional.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


KINDS = (
    "text",
    "refusal",
    "thinking",
    "image_url",
    "input_audio",
    "file",
    "video_url",
    "document_url",
    "tool_use",
    "tool_result",
    "audio",
    "hologram",
)
ROLES = ("system", "developer", "user", "assistant", "assistant", "tool", "function")
ids = st.sampled_from(("a", "b", "x" * 50, ""))
sources = objects(
    url=words,
    data=words,
    format=words,
    file_data=words,
    file_id=words,
    filename=words,
    detail=words,
)
wild_parts = objects(
    {"type": st.sampled_from(KINDS)},
    text=words,
    refusal=words,
    thinking=words,
    image_url=sources,
    input_audio=sources,
    file=sources,
    video_url=sources,
    document_url=words,
    id=ids,
    tool_use_id=ids,
    content=words,
    audio=objects(id=words),
)
functions = objects({"name": words}, arguments=words, parameters=st.just({}), strict=st.booleans())
wild_calls = objects(
    {"id": ids, "function": functions},
    type=st.sampled_from(("function", "custom")),
    custom=objects(name=words, input=words),
)
contents = st.one_of(words, words, st.none(), st.lists(wild_parts, max_size=3))
wild_messages = objects(
    {"role": st.sampled_from(ROLES), "content": contents},
    tool_calls=st.lists(wild_calls, max_size=2),
    function_call=functions,
    tool_call_id=ids,
    refusal=words,
    audio=objects(id=words),
    reasoning=words,
    reasoning_details=st.lists(odd, max_size=2),
    tool_results=st.lists(objects(tool_call_id=ids, content=words), max_size=2),
    created_at=words,
)
wild_bodies = objects(
    {"messages": st.lists(wild_messages, max_size=5)},
    model=words,
    tools=st.lists(
        objects(type=st.sampled_from(("function", "custom")), function=functions, custom=functions),
        max_size=2,
    ),
    functions=st.lists(functions, max_size=1),
    tool_choice=words,
    stop=words,
    max_tokens=odd,
)
