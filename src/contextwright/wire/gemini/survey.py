"""A pass over the contents of a Gemini request, which finds most of them in order."""

# `type(value) is dict` leaves the types of its items unknown; a call of `is_object` would cost more
# than the whole look.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, NamedTuple

from contextwright.models import Model
from contextwright.wire.gemini.turns import FUNCTION_NAME, FUNCTIONS
from contextwright.wire.gemini.types import Request
from contextwright.wire.media import GEMINI_BYTES, data_fault
from contextwright.wire.survey import Entries, is_valid, take_turns
from contextwright.wire.values import Object, is_list

__all__ = ["survey"]

OF_TEXT = frozenset(("text", "thought", "thoughtSignature"))


def survey(body: Object, model: Model) -> list[Object] | None:
    """Return the parts that may hold media; None if types or order need a closer look."""
    contents = body.get("contents")
    if not is_list(contents) or not take_turns(contents, "model"):
        return None
    entries, texts = without_plain(contents)
    if not is_valid({**body, "contents": [entry for _, entry in entries]}, Request, texts):
        return None
    if model.thought_signatures and not is_signed(contents):
        return None
    found = Parts([], set())
    calls: list[Object] = []
    previous = -1
    for index, content in entries:
        if calls and index != previous + 1:
            return None
        if content["role"] == "user":
            responses = functions(content.get("parts"), "functionResponse", found)
            if responses is None or not are_answers(responses, calls):
                return None
            calls = []
        else:
            called = functions(content.get("parts"), "functionCall", found)
            if called is None or (called and index == 0):
                return None
            calls = called
        previous = index
    return None if calls or not all(map(FUNCTION_NAME, found.names)) else found.holders


class Parts(NamedTuple):
    """What the parts of all contents hold."""

    holders: list[Object]
    """Those that may hold media."""
    names: set[str]
    """The names of the functions."""


def without_plain(contents: list[Any]) -> tuple[Entries, list[str]]:
    """Return the contents that are more than a role and a text, and the texts of the others."""
    entries: Entries = []
    texts: list[str] = []
    for index, content in enumerate(contents):
        if (
            type(content) is dict
            and len(content) == 2
            and type(parts := content.get("parts")) is list
            and len(parts) == 1
            and type(part := parts[0]) is dict
            and len(part) == 1
            and type(text := part.get("text")) is str
        ):
            texts.append(text)
        else:
            entries.append((index, content))
    return entries, texts


def functions(parts: list[Object] | None, kind: str, found: Parts) -> list[Object] | None:
    """Return the calls or responses in the parts of one content; None if a part is unusual."""
    functions: list[Object] = []
    field = FUNCTIONS[kind]
    for part in parts or ():
        if kind in part:
            function = part[kind]
            if len(part) > 1 and not (len(part) == 2 and part.get("thoughtSignature")):
                return None
            if function is None or type(function.get(field)) is not dict:
                return None
            if "parts" in function:
                found.holders.append(part)
            found.names.add(function["name"])
            functions.append(function)
        elif "text" in part:
            if part["text"] is None or not OF_TEXT.issuperset(part):
                return None
        elif len(part) == 1 and part.get("inlineData") is not None:
            if data_fault(part["inlineData"]["data"], GEMINI_BYTES):
                return None
            found.holders.append(part)
        else:
            return None
    if not parts or (functions and kind == "functionResponse" and len(functions) < len(parts)):
        return None
    return functions


def are_answers(responses: list[Object], calls: list[Object]) -> bool:
    """Whether the responses of one content answer the calls before it, each once."""
    if len(responses) != len(calls):
        return False
    ids = {call.get("id") for call in calls}
    names = {call["name"] for call in calls}
    for response in responses:
        if response["id"] not in ids if response.get("id") else response["name"] not in names:
            return False
    return len(ids) == len(calls)


def is_signed(contents: list[Object]) -> bool:
    """Whether the first call of each step since the last question has a signature."""
    for content in reversed(contents):
        parts: list[Object] = content.get("parts") or []
        if content["role"] == "user":
            if any("functionResponse" not in part for part in parts):
                return True
        else:
            calls = [part for part in parts if part.get("functionCall") is not None]
            if calls and not calls[0].get("thoughtSignature"):
                return False
    return True
