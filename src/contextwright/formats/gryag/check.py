"""The rules of a gryag history: its shape, its metadata, calls and results in pairs."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from contextwright.errors import Problem
from contextwright.formats.gryag.meta import read_metadata
from contextwright.models import Model
from contextwright.wire.gemini.rules import read_shape
from contextwright.wire.gemini.turns import pairing, turns_of
from contextwright.wire.gemini.types import Part, Proto, SystemContent, Tool
from contextwright.wire.shapes import Shape, json_problems, objects_in
from contextwright.wire.spelling import as_spelled
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["Entry", "Payload", "check"]


class Entry(Proto):
    """One message of a history: only a role and parts."""

    role: Literal["user", "model", "tool"]
    parts: list[Part]


class Payload(Proto):
    """The payload of one turn: system text, history, and the new user message."""

    history: list[Entry] | None = None
    system_instruction: SystemContent | str | None = None
    user_parts: list[Part] | None = None
    tools: list[Tool] | None = None


class History(Shape):
    """A bare list, wrapped so that the checks have a field to start from."""

    history: list[Entry]


def check(payload: Any, model: Model) -> list[Problem]:
    """List what gryag does not accept in a history, and what Gemini would refuse."""
    if isinstance(payload, str):
        reason = "the compact form is deprecated: it does not identify speakers reliably"
        return [*json_problems(payload), Problem("GRY-57", "", reason, "warning")]
    data, prefix, shape = framed(payload)
    body, problems = read_shape(data, shape)
    if is_object(body):
        problems += history_problems(body)
    found = [at(problem, as_spelled(problem.path, data), prefix) for problem in problems]
    return [*found, *json_problems(payload)]


def framed(payload: Any) -> tuple[Any, str, type[Shape]]:
    """Wrap the payload into an object with a history; return it, its path prefix and its type."""
    if is_list(payload):
        return {"history": payload}, "history", History
    if is_object(payload) and "parts" in payload:
        return {"history": [payload]}, "history[0]", History
    return payload, "", Payload


def at(problem: Problem, path: str, prefix: str) -> Problem:
    """Return the problem with its path in the original payload."""
    return msgspec.structs.replace(problem, path=path.removeprefix(prefix).removeprefix("."))


def history_problems(body: Object) -> list[Problem]:
    """Check for misplaced metadata, and for calls and responses without a partner."""
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
            continue  # people talk at once in a group, and a new chat has no history
        if fault.code == "G-unanswered" and body.get("userParts"):
            continue  # the new user message may be the answer
        # A window of a chat may begin with a call. Gemini refuses that, a history does not.
        leading = turns[0].calls if turns and turns[0].role == "model" else []
        begins = fault.code == "G-call-place" and fault.path in [call.path for call in leading]
        level = "warning" if begins else fault.level
        path = fault.path.replace("contents", "history", 1)
        problems.append(msgspec.structs.replace(fault, path=path, level=level))
    return problems


MODEL = Model(id="gemini")
"""The pairing rules are the same for all models."""
