"""Samples of Responses requests, and when two of them are equal."""

from typing import Any

import contextwright as cw

NAME = "openai-responses"
MODEL = "gpt-5.6-sol"

USER = {"role": "user", "content": "Hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "gAAA",
}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "phase": "final_answer",
    "content": [{"type": "output_text", "text": "Yes", "annotations": [], "logprobs": []}],
}
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "risotto"},
}
PNG = "iVBORw0KGgo="


def body(*items: Any, **fields: Any) -> dict[str, Any]:
    return {"model": MODEL, "input": list(items), **fields}


def same(ours: Any, theirs: Any) -> bool:
    """Equal in meaning: a string is one text part, null is nothing. Nothing else is forgiven."""
    return canonical(ours) == canonical(theirs)


def canonical(value: Any) -> Any:
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {key: canonical(item) for key, item in value.items() if item is not None}
    for key in ("content", "output"):
        if isinstance(plain.get(key), str):
            kind = "output_text" if plain.get("role") == "assistant" else "input_text"
            plain[key] = [{"type": kind, "text": plain[key]}]
    return plain


def errors(payload: Any, model: str = MODEL) -> list[str]:
    problems = cw.check(payload, NAME, model=model)
    return [str(problem) for problem in problems if problem.level == "error"]
