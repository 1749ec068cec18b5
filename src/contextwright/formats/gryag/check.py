"""What is wrong with a gryag history: its shape, its metadata, its calls without answers."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from contextwright.errors import Problem
from contextwright.formats.gryag.meta import read_metadata
from contextwright.models import Model
from contextwright.wire.gemini.rules import pairing, read_shape, turns_of
from contextwright.wire.gemini.types import Part, Proto, SystemContent, Tool
from contextwright.wire.shapes import Shape, json_problems, objects_in
from contextwright.wire.spelling import as_spelled
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["Entry", "Payload", "check"]


class Entry(Proto):
    """One message of a history: nothing but a role and parts."""

    role: Literal["user", "model", "tool"]
    parts: list[Part]


class Payload(Proto):
    """What is sent for one turn: the system text, the past, and what the user says now."""

    history: list[Entry] | None = None
    system_instruction: SystemContent | str | None = None
    user_parts: list[Part] | None = None
    tools: list[Tool] | None = None


class History(Shape):
    """A bare list, under a name the checks can start from."""

    history: list[Entry]


def check(payload: Any, model: Model) -> list[Problem]:
    """Everything that makes a payload no gryag history, or one that Gemini would refuse."""
    if isinstance(payload, str):
        reason = "the compact form is deprecated: it tells nobody who said what for sure"
        return [*json_problems(payload), Problem("GRY-57", "", reason, "warning")]
    data, prefix, shape = framed(payload)
    body, problems = read_shape(data, shape)
    if is_object(body):
        problems += history_problems(body)
    found = [at(problem, as_spelled(problem.path, data), prefix) for problem in problems]
    return [*found, *json_problems(payload)]


def framed(payload: Any) -> tuple[Any, str, type[Shape]]:
    """The payload as an object with a history, and what its paths have too much."""
    if is_list(payload):
        return {"history": payload}, "history", History
    if is_object(payload) and "parts" in payload:
        return {"history": [payload]}, "history[0]", History
    return payload, "", Payload


def at(problem: Problem, path: str, prefix: str) -> Problem:
    """The problem with its path as the payload has it."""
    return msgspec.structs.replace(problem, path=path.removeprefix(prefix).removeprefix("."))


def history_problems(body: Object) -> list[Problem]:
    """Metadata where none should be, and calls and responses that do not fit together."""
    problems: list[Problem] = []
    for index, entry in objects_in(body.get("history")):
        for place, part in objects_in(entry.get("parts")):
            text = part.get("text")
            if isinstance(text, str) and read_metadata(text) is not None:
                path = f"history[{index}].parts[{place}]"
                reason = "metadata belongs in the system instruction"
                problems.append(Problem("GRY-4", path, reason, "warning"))
    turns, faults = turns_of({"contents": body.get("history")})
    faults.extend(pairing(turns, MODEL))
    for fault in faults:
        if fault.code in ("G-consecutive", "G-empty"):
            continue  # a group talks at once; a new chat has no past
        if fault.code == "G-unanswered" and body.get("userParts"):
            continue  # what the user says now may be the answer
        # A window of a chat may begin with a call: Gemini minds, a history does not.
        leading = turns[0].calls if turns and turns[0].role == "model" else []
        begins = fault.code == "G-call-place" and fault.path in [call.path for call in leading]
        level = "warning" if begins else fault.level
        path = fault.path.replace("contents", "history", 1)
        problems.append(msgspec.structs.replace(fault, path=path, level=level))
    return problems


MODEL = Model(id="gemini")
"""The pairing rules are the same for all models."""
