"""Histories that break converters, each from a bug that somebody reported, to two providers.

The input is what OpenAI chat takes, or what programs send it all the same. A conversion is right if
our `check` and the simple judge find no error in the payload and the words that matter are in it.
"""

# The peers are not installed here.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

import contextwright as cw

from . import naive

__all__ = ["CASES", "CONVERTERS", "MODELS", "Case", "judged"]

MODELS = {"anthropic": "claude-sonnet-5-5", "gemini": "gemini-3.8-flash"}
Chat = list[dict[str, Any]]
Convert = Callable[[Chat, str], dict[str, Any]]


class Case(Struct):
    """A history, and the words that must arrive."""

    name: str
    messages: Chat
    words: tuple[str, ...] = ()


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def said(text: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*ids: str, name: str = "calc", arguments: str = '{"a": 1}') -> dict[str, Any]:
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(id: str, text: str = "42") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


CASES = (
    Case(
        "user speaks between parallel results",
        [user("Go"), calls("a", "b"), result("a"), user("hurry"), result("b"), user("so?")],
        ("hurry", "so?"),
    ),
    Case("one of two results is missing", [user("Go"), calls("a", "b"), result("a", "first")]),
    Case("result without a call", [result("a"), said("done"), user("next")], ("done", "next")),
    Case(
        "two calls with one id",
        [user("Go"), calls("a", "a"), result("a", "one"), result("a", "two"), user("so?")],
        ("one", "two"),
    ),
    Case(
        "an id used again later",
        [user("Go"), calls("a"), result("a", "one"), said("ok"), user("Again"), calls("a"),
         result("a", "two"), user("so?")],
        ("one", "two"),
    ),
    Case("call without a result, then the user", [user("Go"), calls("a"), user("stop")], ("stop",)),
    Case(
        "system text in mid-conversation",
        [system("Rules"), user("Hi"), said("Hello"), system("be brief"), user("So?")],
        ("be brief",),
    ),
    Case("system text alone", [system("Say hello")], ("Say hello",)),
    Case("calls before any question", [system("S"), calls("a"), result("a"), user("so?")]),
    Case("runs of one role", [user("aa"), user("bb"), said("cc"), said("dd"), user("ee")],
         ("aa", "bb", "cc", "dd", "ee")),
    Case("empty answer", [user("Hi"), said(""), user("again")], ("again",)),
    Case("blank question", [user("Hi"), said("Yes?"), user("  \n"), user("again")], ("again",)),
    Case("answer without content", [user("Hi"), said(None), user("again")], ("again",)),
    Case(
        "refusal",
        [user("Hi"), {"role": "assistant", "content": None, "refusal": "I cannot"}, user("Why?")],
        ("I cannot",),
    ),
    Case("arguments cut short", [user("Go"), calls("a", arguments='{"a": 1'), result("a")]),
    Case("arguments empty", [user("Go"), calls("a", arguments=""), result("a")]),
    Case("arguments a list", [user("Go"), calls("a", arguments="[1,2]"), result("a")]),
    Case("arguments a string", [user("Go"), calls("a", arguments='"x"'), result("a")]),
    Case("tool name with a blank", [user("Go"), calls("a", name="my tool.v1"), result("a")]),
    Case("result a list", [user("Go"), calls("a"), result("a", '["p", "q"]')], ("p", "q")),
    Case("result empty", [user("Go"), calls("a"), result("a", ""), user("so?")], ("so?",)),
    Case("names of speakers", [user("Hi", name="Alice B."), user("Yo", name="Max")], ("Hi", "Yo")),
)  # fmt: skip


def judged(case: Case, target: str, convert: Convert) -> str:
    """Why a conversion is wrong; empty if it is right."""
    try:
        payload = json.loads(json.dumps(convert(json.loads(json.dumps(case.messages)), target)))
    except Exception as error:  # whatever a converter raises is the finding
        return f"raises {type(error).__name__}"
    problems = cw.check(payload, target, model=MODELS[target])
    errors = [problem.code for problem in problems if problem.level == "error"]
    if errors:
        return errors[0]
    faults = [fault.partition(": ")[2] for fault in naive.CHECKS[target](payload)]
    pairs = [fault for fault in faults if fault != "wrong role"]  # Anthropic takes runs of a role
    if pairs:
        return pairs[0]
    text = json.dumps(payload, ensure_ascii=False)
    lost = [word for word in case.words if json.dumps(word, ensure_ascii=False)[1:-1] not in text]
    return f"loses {lost[0]!r}" if lost else ""


def ours(messages: Chat, target: str) -> dict[str, Any]:
    body = {"model": "gpt-4o", "messages": messages}
    return cw.convert(body, "openai-chat", target, model=MODELS[target]).payload


def litellm(messages: Chat, target: str) -> dict[str, Any]:
    """With `modify_params`, which its documentation recommends for such histories."""
    import litellm as library
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig
    from litellm.llms.vertex_ai.gemini.transformation import _gemini_convert_messages_with_history

    library.modify_params = True
    if target == "anthropic":
        options = {"max_tokens": 1_024}
        return AnthropicConfig().transform_request(MODELS[target], messages, options, {}, {})
    rules = [message["content"] for message in messages if message["role"] == "system"]
    rest = [message for message in messages if message["role"] != "system"]
    contents = _gemini_convert_messages_with_history(rest, model=MODELS[target])
    if not rules:
        return {"contents": contents}
    return {
        "systemInstruction": {"parts": [{"text": rule} for rule in rules]},
        "contents": contents,
    }


def langchain(messages: Chat, target: str) -> dict[str, Any]:
    from langchain_core.messages import convert_to_messages

    native = convert_to_messages(messages)
    if target == "anthropic":
        from langchain_anthropic import ChatAnthropic

        model = ChatAnthropic(model=MODELS[target], api_key="-", max_tokens=1_024)
        return model._get_request_payload(native)
    from langchain_google_genai.chat_models import _parse_chat_history

    rules, history = _parse_chat_history(native, model=MODELS[target])
    dump = {"mode": "json", "exclude_none": True, "by_alias": True}
    body: dict[str, Any] = {"contents": [content.model_dump(**dump) for content in history]}
    return {"systemInstruction": rules.model_dump(**dump), **body} if rules else body


CONVERTERS: dict[str, Convert] = {
    "contextwright": ours,
    "litellm": litellm,
    "langchain": langchain,
}
