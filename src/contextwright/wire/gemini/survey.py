"""A pass over the contents of a Gemini request, which finds most of them in order."""

# `type(value) is dict` leaves the types of its items unknown; a call of `is_object` would cost more
# than the whole look.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

from contextwright.models import Model
from contextwright.wire.gemini.turns import FUNCTION_NAME, FUNCTIONS, inline_data
from contextwright.wire.gemini.types import Content, Proto, Request
from contextwright.wire.survey import BLOCK, WRONG_TYPES, is_valid, roles_alternate
from contextwright.wire.values import Object, is_list

__all__ = ["survey"]

CALL, RESPONSE = FUNCTIONS
OF_TEXT = frozenset(("text", "thought", "thoughtSignature"))


class Contents(Proto):
    """Some contents of a request."""

    contents: list[Content]


class Found:
    """What the contents so far hold."""

    def __init__(self) -> None:
        self.holders: list[Object] = []
        """Parts that may hold media."""
        self.names: set[str] = set()
        """The names of the functions."""
        self.calls: list[Object] = []
        """Calls that the next content answers."""


def survey(body: Object, model: Model) -> list[Object] | None:
    """Return the parts that may hold media; None if types or order need a closer look."""
    contents = body.get("contents")
    if not is_list(contents) or not roles_alternate(contents, "model"):
        return None
    found = Found()
    try:
        if model.thought_signatures and not is_signed(contents):
            return None
        if contents[0]["role"] == "model" and functions(contents[0]["parts"], CALL, Found()):
            return None
        for start in range(0, len(contents), BLOCK):
            seen = look(contents[start : start + BLOCK], found)
            if seen is None or not is_valid({"contents": seen[0]}, Contents, seen[1]):
                return None
    except WRONG_TYPES:
        return None
    if found.calls or not all(map(FUNCTION_NAME, found.names)):
        return None
    if not model.function_response_parts and any(RESPONSE in part for part in found.holders):
        return None
    return found.holders if is_valid({**body, "contents": None}, Request, []) else None


def look(contents: list[Any], found: Found) -> tuple[list[Object], list[str]] | None:
    """Return the contents that are more than a role and a text, and the texts of the others.

    None if a part is unusual, or calls are not answered at once.
    """
    others: list[Object] = []
    texts: list[str] = []
    calls = found.calls
    for content in contents:
        parts = content["parts"]
        if (
            len(parts) == 1
            and len(content) == 2
            and type(part := parts[0]) is dict
            and len(part) == 1
            and type(text := part.get("text")) is str
            and type(parts) is list
            and type(content) is dict
        ):
            if calls:
                return None
            texts.append(text)
            continue
        others.append(content)
        if content["role"] == "user":
            responses = functions(parts, RESPONSE, found)
            if responses is None or not are_answers(responses, calls):
                return None
            calls = []
        else:
            called = functions(parts, CALL, found)
            if called is None:
                return None
            calls = called
    found.calls = calls
    return others, texts


def functions(parts: list[Object], kind: str, found: Found) -> list[Object] | None:
    """Return the calls or responses in the parts of one content; None if a part is unusual."""
    functions: list[Object] = []
    field = FUNCTIONS[kind]
    for part in parts:
        function = part.get(kind)
        if function is not None:
            if len(part) > 1 and not (len(part) == 2 and part.get("thoughtSignature")):
                return None
            if type(function.get(field)) is not dict:
                return None
            if "parts" in function:
                if any(any(inline_data(held, "")) for held in function["parts"] or ()):
                    return None
                found.holders.append(part)
            found.names.add(function["name"])
            functions.append(function)
        elif "text" in part:
            if part["text"] is None or not OF_TEXT.issuperset(part):
                return None
        elif len(part) == 1 and part.get("inlineData") is not None:
            if any(inline_data(part, "")):
                return None
            found.holders.append(part)
        else:
            return None
    if not parts or (functions and kind == RESPONSE and len(functions) < len(parts)):
        return None
    return functions


def are_answers(responses: list[Object], calls: list[Object]) -> bool:
    """Whether the responses of one content answer the calls before it, each once."""
    if len(responses) != len(calls):
        return False
    if not calls:
        return True
    ids = {call.get("id") for call in calls}
    if len(ids) < len(calls) or ids != {response.get("id") for response in responses}:
        return False
    if len(calls) == 1:
        return calls[0]["name"] == responses[0]["name"]
    names = {call.get("id"): call["name"] for call in calls}
    return all(ids) and all(names[one["id"]] == one["name"] for one in responses)


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
