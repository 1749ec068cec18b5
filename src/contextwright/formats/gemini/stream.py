"""A streamed generateContent reply, put together from its chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from contextwright.changes import Change
from contextwright.formats.gemini.parts import SIGNATURE
from contextwright.wire.gemini.types import Reply
from contextwright.wire.spelling import camel_case
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["accumulate"]

STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]")
"""One step of a JSON path such as `$.items[0].name`."""
VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def accumulate(events: Iterable[Any]) -> tuple[Object, list[Change]]:
    """The whole reply, and a change where the stream broke off before its end."""
    reply: Object = {}
    parts: list[Object] = []
    candidate: Object = {}
    error: Any = None
    for event in events:
        chunk = as_dict(event)
        error = chunk.get("error") or error
        candidates: Any = chunk.pop("candidates", None)
        reply.update(chunk)
        first: Any = candidates[0] if is_list(candidates) and candidates else None
        if not is_object(first):
            continue
        candidate.update({key: value for key, value in first.items() if key != "content"})
        content: Any = first.get("content")
        held: Any = content.get("parts") if is_object(content) else None
        for part in held if is_list(held) else ():
            if is_object(part):
                add_part(parts, part)
    changes: list[Change] = []
    if candidate or parts:
        whole = [finished(part) for part in parts]
        reply["candidates"] = [{**candidate, "content": {"role": "model", "parts": whole}}]
    if not candidate.get("finishReason") and not reply.get("promptFeedback"):
        reason = f"the stream broke off{': error' if error else ''}; what came is kept"
        changes.append(Change("repair.interrupted", "", reason))
    return reply, changes


def as_dict(event: Any) -> Object:
    """A chunk as a dict of our own in camelCase: decoded JSON, or an SDK's object."""
    dump = getattr(event, "model_dump", None)
    if callable(dump):
        event = dump(mode="json", exclude_none=True)
    chunk, _ = camel_case(event, Reply)
    return {**chunk} if is_object(chunk) else {}


def add_part(parts: list[Object], part: Object) -> None:
    """Add a part to those before it: plain text goes on, a call's pieces join the call.

    A part that carries a signature stays alone: the API wants it back where it was.
    """
    last = parts[-1] if parts else {}
    call: Any = part.get("functionCall")
    open_call: Any = last.get("functionCall")
    if is_object(call) and is_object(open_call) and open_call.get("willContinue"):
        go_on(open_call, call)
        if SIGNATURE in part:
            last[SIGNATURE] = part[SIGNATURE]
    elif is_plain_text(part) and is_plain_text(last):
        if part.get("thought") == last.get("thought"):
            last["pieces"].append(part["text"])
        else:
            parts.append({**part, "pieces": [part["text"]]})
    elif is_plain_text(part):
        parts.append({**part, "pieces": [part["text"]]})
    elif is_object(call):
        parts.append({**part, "functionCall": started(call)})
    else:
        parts.append({**part})


def is_plain_text(part: Object) -> bool:
    """Whether a part is words and nothing else, so that words may be added."""
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought", "pieces"}


def started(call: Object) -> Object:
    """A call with those of its arguments that came with it."""
    whole: Object = {**call}
    pieces: Any = whole.pop("partialArgs", None)
    if pieces or whole.get("willContinue"):
        whole["args"] = dict(whole.get("args") or {})
        add_arguments(whole["args"], pieces)
    return whole


def go_on(whole: Object, piece: Object) -> None:
    """Add the next piece to a call whose arguments are streamed."""
    add_arguments(whole["args"], piece.get("partialArgs"))
    if piece.get("willContinue"):
        return
    whole.pop("willContinue", None)


def add_arguments(arguments: Object, pieces: Any) -> None:
    """Put pieces of arguments at their places; a text that is there already goes on."""
    for piece in pieces if is_list(pieces) else ():
        if not is_object(piece) or not isinstance(piece.get("jsonPath"), str):
            continue
        steps = [
            name or quoted or int(index or 0)
            for name, index, quoted in STEP.findall(piece["jsonPath"])
        ]
        key = next((key for key in VALUES if key in piece), None)
        if steps and key is not None:
            put(arguments, steps, None if key == "nullValue" else piece[key])


def put(holder: Any, steps: list[str | int], value: Any) -> None:
    """Write a value at a path, making objects and lists on the way."""
    for here, following in zip(steps, steps[1:], strict=False):
        holder = child(holder, here, [] if isinstance(following, int) else {})
    last = steps[-1]
    before = child(holder, last, None)
    if isinstance(before, str) and isinstance(value, str):
        value = before + value
    if is_list(holder) and isinstance(last, int):
        holder[last] = value
    elif is_object(holder):
        holder[str(last)] = value


def child(holder: Any, step: str | int, otherwise: Any) -> Any:
    """What stands at a step, put there if nothing does."""
    if is_list(holder) and isinstance(step, int):
        holder.extend([None] * (step + 1 - len(holder)))
        if holder[step] is None:
            holder[step] = otherwise
        return holder[step]
    return holder.setdefault(str(step), otherwise) if is_object(holder) else None


def finished(part: Object) -> Object:
    """A part with its pieces of text joined."""
    pieces: Any = part.get("pieces")
    if not is_list(pieces):
        return part
    return {**{key: part[key] for key in part if key != "pieces"}, "text": "".join(pieces)}
