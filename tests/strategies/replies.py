"""Replies as the four providers answer, as JSON."""

import json
from typing import Any

from hypothesis import strategies as st

JSON = dict[str, Any]
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)
NAMES = st.sampled_from(("search", "run", "weather"))
ARGUMENTS = st.dictionaries(
    st.sampled_from(("q", "city", "n")), WORDS | st.integers(-9, 9) | st.none(), max_size=3
)
SIGNATURES = st.sampled_from(("c2ln", "RXhhbXBsZQ==", "YWJj"))
COUNTS = st.integers(1, 500)


@st.composite
def call_ids(draw: st.DrawFn, count: int) -> list[str]:
    stem = draw(st.sampled_from(("call_", "toolu_", "x")))
    return [f"{stem}{number}" for number in range(count)]


def anthropic_blocks() -> st.SearchStrategy[JSON]:
    """Blocks of every kind that a reply has."""
    thinking = st.builds(
        lambda text, signature: {"type": "thinking", "thinking": text, "signature": signature},
        WORDS,
        SIGNATURES,
    )
    redacted = st.builds(lambda data: {"type": "redacted_thinking", "data": data}, SIGNATURES)
    text = st.builds(lambda text: {"type": "text", "text": text}, WORDS)
    cited = st.builds(
        lambda text, cited: {
            "type": "text",
            "text": text,
            "citations": [
                {
                    "type": "char_location",
                    "cited_text": cited,
                    "document_index": 0,
                    "document_title": "t",
                    "start_char_index": 0,
                    "end_char_index": 1,
                }
            ],
        },
        WORDS,
        WORDS,
    )
    call = st.builds(
        lambda name, input: {"type": "tool_use", "id": "", "name": name, "input": input},
        NAMES,
        ARGUMENTS,
    )
    hosted = st.builds(
        lambda query: {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": query},
        },
        WORDS,
    )
    return thinking | redacted | text | cited | call | hosted


@st.composite
def anthropic_replies(draw: st.DrawFn) -> JSON:
    blocks = draw(st.lists(anthropic_blocks(), max_size=5))
    calls = [block for block in blocks if block["type"] == "tool_use"]
    for block, id in zip(calls, draw(call_ids(len(calls))), strict=True):
        block["id"] = id
    reason = "tool_use" if calls else draw(st.sampled_from(("end_turn", "max_tokens", "refusal")))
    if reason == "max_tokens" and not blocks:
        reason = "end_turn"
    usage: JSON = {
        "input_tokens": draw(COUNTS),
        "cache_creation_input_tokens": draw(COUNTS),
        "cache_read_input_tokens": draw(COUNTS),
        "output_tokens": draw(COUNTS),
    }
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    if reason == "refusal":
        body["stop_details"] = {"type": "refusal", "category": None, "explanation": draw(WORDS)}
    return body


def chat_reasoning() -> st.SearchStrategy[JSON]:
    """Reasoning as hosts spell it: a text, or entries, which a stream numbers."""
    text = WORDS.map(lambda words: {"reasoning_content": words})
    entry = WORDS.map(lambda words: {"type": "reasoning.text", "text": words})
    entries = st.lists(entry, min_size=1, max_size=3).map(
        lambda some: [{**one, "index": number} for number, one in enumerate(some)]
    )
    return st.just({}) | text | entries.map(lambda some: {"reasoning_details": some})


@st.composite
def chat_replies(draw: st.DrawFn) -> JSON:
    message: JSON = {"role": "assistant", "content": draw(st.none() | WORDS), "refusal": None}
    message |= draw(chat_reasoning())
    if draw(st.booleans()):
        message["refusal"] = draw(WORDS)
    calls: list[JSON] = []
    for id in draw(call_ids(draw(st.integers(0, 3)))):
        name = draw(NAMES)
        if draw(st.booleans()):
            spelled = json.dumps(draw(ARGUMENTS))
            function = {"name": name, "arguments": spelled}
            calls.append({"id": id, "type": "function", "function": function})
        else:
            custom = {"name": name, "input": draw(WORDS)}
            calls.append({"id": id, "type": "custom", "custom": custom})
    if calls:
        message["tool_calls"] = calls
    if draw(st.booleans()):
        voice = {"id": "audio_1", "data": "UklGRg==", "expires_at": 9}
        message["audio"] = {**voice, "transcript": draw(WORDS)}
    spoken = ("content", "reasoning_content", "reasoning_details", "refusal", "audio")
    said = any(message.get(key) for key in spoken)
    reason = "tool_calls" if calls else draw(st.sampled_from(("stop", "length")))
    if reason == "length" and not said:
        reason = "stop"
    usage = {
        "prompt_tokens": 500 + draw(COUNTS),
        "completion_tokens": 500 + draw(COUNTS),
        "total_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": draw(COUNTS)},
        "completion_tokens_details": {"reasoning_tokens": draw(COUNTS)},
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 7,
        "model": "gpt-5.6-sol",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": usage,
    }


LINK = {
    "type": "url_citation",
    "url": "https://a.b",
    "title": "A",
    "start_index": 0,
    "end_index": 1,
}
"""A source that a text names."""


@st.composite
def responses_replies(draw: st.DrawFn) -> JSON:
    output: list[JSON] = []
    called = False
    for place in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(("reasoning", "message", "function", "custom", "hosted"))):
            case "reasoning":
                texts = draw(st.lists(WORDS, max_size=2))
                summary = [{"type": "summary_text", "text": text} for text in texts]
                item: JSON = {"type": "reasoning", "id": f"rs_{place}", "summary": summary}
                item["encrypted_content"] = draw(SIGNATURES)
                if draw(st.booleans()):
                    shown = draw(st.lists(WORDS, max_size=2))
                    item["content"] = [{"type": "reasoning_text", "text": one} for one in shown]
            case "message":
                texts = draw(st.lists(WORDS, min_size=1, max_size=2))
                notes = [LINK] if draw(st.booleans()) else []
                content: list[JSON] = [
                    {"type": "output_text", "text": text, "annotations": notes, "logprobs": []}
                    for text in texts
                ]
                if draw(st.booleans()):
                    content.append({"type": "refusal", "refusal": draw(WORDS)})
                item = {"type": "message", "id": f"msg_{place}", "status": "completed"}
                item = {**item, "role": "assistant", "content": content}
            case "function":
                called = True
                item = {"type": "function_call", "id": f"fc_{place}", "status": "completed"}
                item |= {"call_id": f"call_{place}", "name": draw(NAMES)}
                item["arguments"] = json.dumps(draw(ARGUMENTS))
            case "custom":
                called = True
                item = {"type": "custom_tool_call", "id": f"ctc_{place}", "status": "completed"}
                item |= {"call_id": f"call_{place}", "name": draw(NAMES), "input": draw(WORDS)}
            case _:
                action = {"type": "search", "query": draw(WORDS)}
                item = {"type": "web_search_call", "id": f"ws_{place}", "status": "completed"}
                item["action"] = action
        output.append(item)
    cut = bool(output) and not called and draw(st.booleans())
    usage = {
        "input_tokens": 500 + draw(COUNTS),
        "input_tokens_details": {"cached_tokens": draw(COUNTS), "cache_write_tokens": 0},
        "output_tokens": 500 + draw(COUNTS),
        "output_tokens_details": {"reasoning_tokens": draw(COUNTS)},
        "total_tokens": 9,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 7,
        "model": "gpt-5.6-sol",
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


@st.composite
def gemini_replies(draw: st.DrawFn) -> JSON:
    parts: list[JSON] = []
    for number in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(("thought", "text", "signed", "call", "image"))):
            case "thought":
                part: JSON = {"text": draw(WORDS), "thought": True}
            case "text":
                part = {"text": draw(WORDS)}
            case "signed":
                part = {"text": draw(WORDS), "thoughtSignature": draw(SIGNATURES)}
            case "call":
                call = {"id": f"c{number}", "name": draw(NAMES), "args": draw(ARGUMENTS)}
                part = {"functionCall": call}
                if draw(st.booleans()):
                    part["thoughtSignature"] = draw(SIGNATURES)
            case _:
                part = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
        plain = part.keys() <= {"text", "thought"}
        last = parts[-1] if parts else {}
        if plain and last.keys() <= {"text", "thought"} and last:
            if last.get("thought") == part.get("thought"):
                continue  # a stream of this API has no mark between two plain texts
        parts.append(part)
    reason = "STOP"
    if parts and not any("functionCall" in part for part in parts):
        reason = draw(st.sampled_from(("STOP", "MAX_TOKENS", "SAFETY")))
    usage = {
        "promptTokenCount": draw(COUNTS),
        "candidatesTokenCount": draw(COUNTS),
        "thoughtsTokenCount": draw(COUNTS),
        "totalTokenCount": 9,
    }
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": reason, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": "gemini-3.8-flash",
        "responseId": "r1",
    }


LOGPROBS = {"content": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]}
GROUNDING = {"webSearchQueries": ["ships"], "groundingChunks": [{"web": {"uri": "https://a.b"}}]}
OTHERS: dict[str, tuple[JSON, JSON]] = {
    "anthropic": (
        {
            "container": {"id": "container_1", "expires_at": "2026-11-17T00:00:00Z"},
            "context_management": {"applied_edits": [{"type": "clear_thinking_20251015"}]},
        },
        {},
    ),
    "gemini": (
        {"modelStatus": {"modelStage": "STABLE"}},
        {
            "groundingMetadata": GROUNDING,
            "citationMetadata": {"citationSources": [{"uri": "https://a.b"}]},
            "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "https://a.b"}]},
            "logprobsResult": {"chosenCandidates": [{"token": "a"}]},
        },
    ),
    "openai-chat": ({"citations": ["https://a.b"]}, {"logprobs": LOGPROBS}),
    "openai-responses": ({"tool_usage": {"web_search": {"num_requests": 1}}}, {}),
}
"""Fields that replies have beside what is read: of the reply, and of its choice or candidate."""
LISTS = {"gemini": "candidates", "openai-chat": "choices"}
UNHEARD_OF = st.dictionaries(
    st.sampled_from(("xOwn", "novelty")), WORDS | st.just([1]) | st.just(True), max_size=2
)


@st.composite
def with_others(draw: st.DrawFn, format: str, replies: st.SearchStrategy[JSON]) -> JSON:
    """A reply with fields beside what is read, some of them unheard of."""
    body = draw(replies)
    fields, of_first = OTHERS[format]
    body |= {name: fields[name] for name in fields if draw(st.booleans())} | draw(UNHEARD_OF)
    for first in body.get(LISTS.get(format, ""), ())[:1]:
        first |= {name: of_first[name] for name in of_first if draw(st.booleans())}
        first |= draw(UNHEARD_OF)
    return body


REPLIES = {
    "anthropic": with_others("anthropic", anthropic_replies()),
    "openai-chat": with_others("openai-chat", chat_replies()),
    "openai-responses": with_others("openai-responses", responses_replies()),
    "gemini": with_others("gemini", gemini_replies()),
}
"""Whole replies of each provider."""


def others_in(body: JSON, format: str) -> set[str]:
    """The names of the fields beside what is read."""
    fields, of_first = OTHERS[format]
    firsts = [one for one in body.get(LISTS.get(format, ""), ()) if isinstance(one, dict)]
    names = {*fields, *of_first, "xOwn", "novelty"}
    return {name for one in (body, *firsts[:1]) for name in one if name in names and one[name]}
