"""What generateContent refuses in the contents of a conversation whose types are right.

Each function is one family of rules; the codes are those of `docs/rules.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.wire.gemini.types import DATA_FIELDS
from contextwright.wire.media import GEMINI_BYTES, data_problems
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "FUNCTIONS",
    "FUNCTION_NAME",
    "NAME_RULE",
    "ends",
    "inline_data",
    "media",
    "pairing",
    "signatures",
    "turns_of",
]

FUNCTION_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}").fullmatch
DATA = frozenset(DATA_FIELDS)


class Placed(Struct, gc=False):
    """A part and its position: `contents[content].parts[place]`."""

    content: int
    place: int
    part: Object

    @property
    def path(self) -> str:
        """The path of the part."""
        return f"contents[{self.content}].parts[{self.place}]"


class Turn(Struct):
    """Adjacent messages of one role, joined as the API joins them before it pairs calls."""

    role: str
    calls: list[Placed] = []
    responses: list[Placed] = []
    others: list[Placed] = []
    """All parts but plain text."""
    first_other: int | None = None
    """The first content of the turn that holds anything but function responses."""
    last: int = 0
    """The index of the turn's last content."""


def turns_of(body: Object) -> tuple[list[Turn], list[Problem]]:
    """Return the turns as the API reads them, and the problems inside their contents.

    Both come from one pass, because only this grows with the history.
    """
    turns: list[Turn] = []
    problems: list[Problem] = []
    entries = body.get("contents")
    if entries is None or entries == []:
        problems.append(Problem("G-empty", "contents", "at least one content is needed"))
    turn, answered = None, False
    for index, content in objects_in(entries):
        # An unknown role counts as the user's; T-literal reports it.
        role = "model" if content.get("role") == "model" else "user"
        if turn is None or turn.role != role:
            turn = Turn(role)
            turns.append(turn)
        elif not answered:
            reason = f"follows another {role} content and is joined to it"
            problems.append(Problem("G-consecutive", f"contents[{index}]", reason, "warning"))
        turn.last = index
        parts = content.get("parts")
        if is_list(parts) and len(parts) == 1 and is_plain(parts[0]):
            answered = False
            turn.first_other = index if turn.first_other is None else turn.first_other
        else:
            answered = read_parts(parts, index, turn, problems)
    return turns, problems


def is_plain(part: Any) -> bool:
    """Whether a part is text and nothing else, as nearly all are."""
    return is_object(part) and len(part) == 1 and part.get("text") is not None


def read_parts(parts: Any, index: int, turn: Turn, problems: list[Problem]) -> bool:
    """Add the parts of one content to its turn; return whether it holds function responses."""
    if parts is None or parts == []:
        reason = "a content needs at least one part"
        problems.append(Problem("G-parts", f"contents[{index}].parts", reason))
    responses = others = 0
    for place, part in enumerate(parts if is_list(parts) else ()):
        if not is_object(part):
            continue
        if is_plain(part):
            others += 1
            continue
        placed = Placed(index, place, part)
        turn.others.append(placed)
        one_part(placed, problems)
        if part.get("functionResponse") is not None:
            responses += 1
            turn.responses.append(placed)
        else:
            others += 1
            if part.get("functionCall") is not None:
                turn.calls.append(placed)
                others -= turn.role == "user"  # a call in a user turn is reported separately
    if others and turn.first_other is None:
        turn.first_other = index
    if responses and others:
        reason = "function responses need a content of their own"
        problems.append(Problem("G-mixed", f"contents[{index}]", reason))
    return bool(responses)


def one_part(placed: Placed, problems: list[Problem]) -> None:
    """Exactly one data field; a function has a valid name and valid values."""
    part = placed.part
    held = [key for key in part if key in DATA and part[key] is not None]
    if len(held) != 1:
        wrong = " and ".join(held) if held else "nothing"
        reason = f"a part must hold exactly one thing, not {wrong}"
        problems.append(Problem("G-parts", placed.path, reason))
    for key in held:
        field = FUNCTIONS.get(key)
        function = part[key]
        if field is not None and is_object(function):
            one_function(function, key, field, placed, problems)


def one_function(
    function: Object, key: str, field: str, placed: Placed, problems: list[Problem]
) -> None:
    """Check a call or a response: it has a name, and its arguments or response are an object."""
    given = function.get(field)
    if not is_object(given) and (given is not None or field == "response"):
        path = f"{placed.path}.{key}.{field}"
        problems.append(Problem("G-response", path, f"must be an object, not {shown(given)}"))
    name = function.get("name")
    if isinstance(name, str) and not FUNCTION_NAME(name):
        level = "warning" if name else "error"
        problems.append(Problem("G-toolname", f"{placed.path}.{key}.name", NAME_RULE, level))
    if "thoughtSignature" in function or "thought_signature" in function:
        reason = "the signature belongs next to the function, not inside it"
        problems.append(Problem("G-signature", f"{placed.path}.{key}", reason))


FUNCTIONS = {"functionCall": "args", "functionResponse": "response"}
"""The two kinds of function parts, and the field of each that holds an object."""
NAME_RULE = "must start with a letter or _, then letters, digits, _ . : -; at most 128"


def pairing(turns: list[Turn], model: Model, *, cached: bool = False) -> Iterator[Problem]:
    """Calls follow a user turn; the next turn answers each of them, and only them.

    The turn before the first may be in the cached content, which only the API can see.
    """
    open_calls: list[Placed] = []
    for index, turn in enumerate(turns):
        if turn.role == "user":
            unseen = cached and index == 0
            yield from answers(turn, open_calls, "warning" if unseen else "error")
            yield from media_in_responses(turn, model)
            for call in turn.calls:
                yield Problem("G-call-place", call.path, "a user content cannot call functions")
            open_calls = []
            continue
        for response in turn.responses:
            reason = "a model content cannot hold function responses"
            yield Problem("G-orphan", response.path, reason)
        if turn.calls and index == 0:
            level = "warning" if cached else "error"
            reason = "a call must follow a user turn"
            yield Problem("G-call-place", turn.calls[0].path, reason, level)
        yield from repeated_ids(turn.calls)
        open_calls = turn.calls
    if open_calls:
        yield Problem("G-unanswered", open_calls[0].path, "no function response follows this call")


def repeated_ids(calls: list[Placed]) -> Iterator[Problem]:
    """Two calls of one turn need different ids, or responses cannot be told apart."""
    seen: set[str] = set()
    for call in calls:
        id = text_of(call, "functionCall", "id")
        if id and id in seen:
            path = f"{call.path}.functionCall.id"
            yield Problem("G-dup-id", path, f"id {shown(id)} is used twice", "warning")
        seen.add(id)


def answers(turn: Turn, calls: list[Placed], level: Level) -> Iterator[Problem]:
    """Compare the responses of one user turn with the calls before it.

    `level` is that of responses to a turn without calls.
    """
    responses = turn.responses
    if not responses:
        if calls:
            yield Problem("G-unanswered", calls[0].path, "no function response follows this call")
        return
    if not calls:
        for response in responses:
            yield Problem("G-orphan", response.path, "no function call in the turn before", level)
        return
    for response in responses:
        if turn.first_other is not None and turn.first_other < response.content:
            reason = "a function response must follow its call directly"
            yield Problem("G-orphan", response.path, reason)
    if len(responses) != len(calls) and not any(map(goes_on, responses)):
        reason = f"{len(calls)} function calls, {len(responses)} function responses"
        yield Problem("G-count", responses[0].path, reason)
    yield from partners(responses, calls)


def partners(responses: list[Placed], calls: list[Placed]) -> Iterator[Problem]:
    """Compare the ids of responses with those of their calls; without ids, the names."""
    ids = [text_of(call, "functionCall", "id") for call in calls]
    called = [text_of(call, "functionCall", "name") for call in calls]
    names, by_id, times = set(called), dict(zip(ids, called, strict=True)), Counter(ids)
    answered: set[str] = set()
    for response in responses:
        path = f"{response.path}.functionResponse"
        id = text_of(response, "functionResponse", "id")
        name = text_of(response, "functionResponse", "name")
        if id and id not in by_id:
            yield Problem("G-orphan", f"{path}.id", f"no call {shown(id)} in the turn before")
        elif id in answered and times[id] == 1 and not goes_on(response):
            yield Problem("G-orphan", f"{path}.id", f"call {shown(id)} has a response already")
        elif id and name and times[id] == 1 and by_id[id] not in ("", name):
            reason = f"call {shown(id)} is of {shown(by_id[id])}"
            yield Problem("G-orphan", f"{path}.name", reason, "warning")
        elif not id and name not in names:
            reason = "no call of that name in the turn before"
            yield Problem("G-orphan", f"{path}.name", reason, "warning")
        elif not id and "" not in ids:
            reason = "its call has an id, which it should carry too"
            yield Problem("G-orphan", f"{path}.id", reason, "warning")
        if id and not goes_on(response):
            answered.add(id)


def media_in_responses(turn: Turn, model: Model) -> Iterator[Problem]:
    """Older models read no media in a function response."""
    if model.function_response_parts:
        return
    for response in turn.responses:
        function = response.part["functionResponse"]
        if is_object(function) and function.get("parts"):
            path = f"{response.path}.functionResponse.parts"
            reason = f"{model.id} may refuse media in a response"
            yield Problem("G-response", path, reason, "warning")


def goes_on(response: Placed) -> bool:
    """Whether more responses to the same call will follow."""
    function = response.part["functionResponse"]
    return is_object(function) and bool(function.get("willContinue"))


def text_of(placed: Placed, kind: str, field: str) -> str:
    """Return a text field of a call or response; empty if there is none."""
    function = placed.part[kind]
    value = function.get(field) if is_object(function) else None
    return value if isinstance(value, str) else ""


def signatures(turns: list[Turn], model: Model) -> Iterator[Problem]:
    """The first call of each step since the last user message carries a signature."""
    if not model.thought_signatures:
        return
    for turn in reversed(turns):
        if turn.role == "user":
            if turn.first_other is not None:
                return
        elif turn.calls and not turn.calls[0].part.get("thoughtSignature"):
            path = turn.calls[0].path
            yield Problem(
                "G-signature", path, f"{model.id} requires a thoughtSignature next to this call"
            )


def ends(turns: list[Turn], model: Model) -> Iterator[Problem]:
    """Which role may come last."""
    if turns and turns[-1].role == "model" and not model.prefill:
        path = f"contents[{turns[-1].last}]"
        yield Problem("G-prefill", path, f"{model.id} refuses a final model turn")


def media(turns: list[Turn]) -> Iterator[Problem]:
    """Inline data is base64, not too large, and what its label says."""
    for turn in turns:
        for placed in turn.others:
            yield from inline_data(placed.part, placed.path)
        for placed in turn.responses:
            function = placed.part["functionResponse"]
            parts = function.get("parts") if is_object(function) else None
            for place, part in objects_in(parts):
                yield from inline_data(part, f"{placed.path}.functionResponse.parts[{place}]")


def inline_data(part: Object, path: str) -> Iterator[Problem]:
    """Check the bytes of one part."""
    held = part.get("inlineData")
    if is_object(held):
        data, mime = held.get("data"), held.get("mimeType")
        yield from data_problems(data, f"{path}.inlineData.data", GEMINI_BYTES, mime)
