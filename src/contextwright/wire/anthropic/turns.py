"""What the Messages API refuses in the turns of a conversation whose types are right.

Each function is one family of rules; the codes are those of `docs/rules.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast, get_args

from msgspec import Struct

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.wire.anthropic.blanks import (
    BLANK,
    blank_inside,
    blank_result,
    blank_text,
    is_blank,
)
from contextwright.wire.anthropic.citations import SOURCES, uneven_sources
from contextwright.wire.anthropic.media import source
from contextwright.wire.anthropic.types import UNSIGNED, AssistantBlock
from contextwright.wire.shapes import objects_in
from contextwright.wire.survey import Entries
from contextwright.wire.values import Object, is_object

__all__ = [
    "CALL_NAME",
    "ID",
    "MARK",
    "SERVER_CALLS",
    "Turn",
    "continues_thread",
    "is_hosted",
    "is_idle",
    "media_holders",
    "open_loop",
    "turn_problems",
    "turns_of",
]

MARK = "cache_control"

ID = re.compile(r"[a-zA-Z0-9_-]+").fullmatch

CALL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}").fullmatch
LONGEST_CALL_NAME = 200
"""What the API itself says of a call in a history; tools, which it may name, are held to less."""

THINKING = {"thinking", "redacted_thinking"}
PLAIN_KINDS = {"text", "tool_use", *THINKING}
SERVER_CALLS = {"server_tool_use", "mcp_tool_use"}
ASSISTANT_KINDS = {str(kind.__struct_config__.tag) for kind in get_args(AssistantBlock)}


class Block(Struct, gc=False):
    """A content block and its position; `place` is -1 if the content is a string."""

    index: int
    place: int
    fields: dict[str, Any]
    kind: str

    @property
    def path(self) -> str:
        place = f"[{self.place}]" if self.place >= 0 else ""
        return f"messages[{self.index}].content{place}"


class Turn(Struct, gc=False):
    """Adjacent messages of one role, joined as the API joins them before it pairs calls."""

    role: str
    index: int
    blocks: list[Block]
    kinds: set[str]
    bare: list[int]
    """The indexes of its messages without content."""

    @property
    def path(self) -> str:
        """The path of its first block."""
        return f"messages[{self.index}]"


def turn_problems(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """List the problems of the turns; a rule runs only if there are blocks that can break it."""
    kinds = set[str]().union(*[turn.kinds for turn in turns])
    for about, rule in TURN_RULES:
        if about is None or not about.isdisjoint(kinds):
            yield from rule(turns, payload, model)


def turns_of(messages: Entries) -> list[Turn]:
    """Return the turns as the API reads them: adjacent messages of one role joined."""
    turns: list[Turn] = []
    previous: Any = None
    for index, message in messages:
        role = message.get("role")
        if not turns or previous != role:
            turns.append(Turn(role if isinstance(role, str) else "", index, [], set(), []))
        previous = role
        turn = turns[-1]
        blocks, kinds = turn.blocks, turn.kinds
        before = len(blocks)
        content = message.get("content")
        if isinstance(content, str):
            blocks.append(Block(index, -1, {"type": "text", "text": content}, "text"))
            kinds.add("text")
        elif isinstance(content, list):
            for place, block in enumerate(cast("list[Object]", content)):
                if isinstance(block, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
                    kind = block.get("type")
                    kind = kind if isinstance(kind, str) else ""
                    blocks.append(Block(index, place, block, kind))
                    kinds.add(kind)
        if len(blocks) == before:
            turn.bare.append(index)
    return turns


def media_holders(turns: list[Turn]) -> list[Object]:
    """Return the blocks of the turns that hold more than text and calls."""
    return [
        block.fields for turn in turns if not turn.kinds <= PLAIN_KINDS for block in turn.blocks
    ]


def pairing(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Every call is answered in the next turn; every answer follows its call."""
    open_calls: dict[str, Block] = {}
    for turn in turns:
        if turn.role == "system":
            continue
        if turn.role == "user" and "tool_result" in turn.kinds:
            yield from answers(turn, open_calls, continues=continues_thread(payload))
        if open_calls:
            yield from unanswered(open_calls)
            open_calls = {}
        if turn.role == "assistant" and "tool_use" in turn.kinds:
            yield from calls(turn, open_calls)
    yield from unanswered(open_calls)


def continues_thread(payload: Object) -> bool:
    """Whether the provider holds the turns before those of the request."""
    match payload.get("thread"):
        case {"type": "continue"}:
            return True
        case _:
            return False


def calls(turn: Turn, open_calls: dict[str, Block]) -> Iterator[Problem]:
    """The calls of one assistant turn; they enter `open_calls`."""
    for block in turn.blocks:
        id = block.fields.get("id")
        if block.kind != "tool_use" or not isinstance(id, str):
            continue
        if id in open_calls:
            yield Problem("A-dup-id", f"{block.path}.id", f"tool_use id {shown(id)} occurs twice")
        if not ID(id):
            yield Problem(
                "A-id", f"{block.path}.id", "an id may have only letters, digits, _ and -"
            )
        name = block.fields.get("name")
        if isinstance(name, str) and not CALL_NAME(name):
            level: Level = "warning" if 0 < len(name) <= LONGEST_CALL_NAME else "error"
            reason = "must be 1 to 128 letters, digits, _ or -"
            yield Problem("A-callname", f"{block.path}.name", reason, level)
        open_calls[id] = block


def unanswered(open_calls: dict[str, Block]) -> Iterator[Problem]:
    for id, block in open_calls.items():
        reason = f"tool_use {shown(id)} has no tool_result in the next turn"
        yield Problem("A-unanswered", block.path, reason)


def answers(turn: Turn, open_calls: dict[str, Block], *, continues: bool) -> Iterator[Problem]:
    """The results of one user turn; answered calls leave `open_calls`."""
    answered: set[str] = set()
    seen_other = False
    holders: set[int] = set()
    for block in turn.blocks:
        if block.kind != "tool_result":
            seen_other = True
            continue
        holders.add(block.index)
        id = block.fields.get("tool_use_id")
        if seen_other:
            reason = "tool_result blocks must come before everything else"
            yield Problem("A-result-first", block.path, reason)
        if not isinstance(id, str):
            continue
        if id in open_calls:
            del open_calls[id]
            answered.add(id)
        elif id in answered:
            yield Problem("A-dup-result", block.path, f"tool_use {shown(id)} already has a result")
        else:
            level: Level = "warning" if continues else "error"  # its call may be in the thread
            yield Problem(
                "A-orphan", block.path, f"no tool_use {shown(id)} in the turn before", level
            )
    if len(holders) > 1:
        reason = "the results of one turn are in several messages"
        yield Problem("A-split", turn.path, reason, "warning")


def contents(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """No empty texts, no empty messages but a last one of the assistant."""
    for turn in turns:
        for block in turn.blocks:
            kind = block.kind
            if kind == "text":
                if is_blank(block.fields.get("text")):
                    yield from blank_text(block.path, block.fields)
            elif kind in SOURCES:
                yield from blank_inside(block.path, block.fields)
            elif kind == "tool_result":
                yield from blank_result(f"{block.path}.content", block.fields)
        last = len(payload["messages"]) - 1 if turn.role == "assistant" else None
        # Claude Code sends an empty system message after a compaction.
        level: Level = "warning" if turn.role == "system" else "error"
        for index in turn.bare:
            if index != last:
                path = f"messages[{index}].content"
                yield Problem("A-empty-content", path, "a message needs content", level)
    system = payload.get("system")
    if system and is_blank(system):
        yield Problem("A-empty-text", "system", BLANK)
    for place, block in objects_in(system):
        yield from blank_text(f"system[{place}]", block)


def ends(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Which roles may come first and last."""
    spoken = [turn for turn in turns if turn.role != "system"]
    if not spoken:
        if isinstance(payload.get("messages"), list):
            yield Problem("A-empty-content", "messages", "at least one message is needed")
        return
    if spoken[0].role == "assistant":
        reason = "older hosts want the first message from the user"
        yield Problem("A-first", spoken[0].path, reason, "warning")
    last = turns[-1]
    if last.role != "assistant" or not last.blocks:
        return
    block = last.blocks[-1]
    if is_hosted(block.kind):
        return  # the provider continues by itself
    # A token of a refused request allows the retry to end in what was streamed before.
    if not model.prefill and not payload.get("fallback_credit_token"):
        yield Problem("A-prefill", last.path, f"{model.id} refuses a final assistant turn")
    text = block.fields.get("text")
    if isinstance(text, str) and text != text.rstrip():
        reason = "final assistant text ends in white space"
        yield Problem("A-trailing-ws", f"{block.path}.text", reason)


def system_turns(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Check the places of system messages, on the models that accept them."""
    for index, turn in enumerate(turns):
        if turn.role != "system":
            continue
        if not model.mid_system:
            yield Problem(
                "A-system-role", turn.path, f"{model.id} takes system text only at the start"
            )
            continue
        before = turns[index - 1] if index else None
        if before is None or not (before.role == "user" or ends_in_server_result(before)):
            yield Problem("A-system-place", turn.path, "a system message must follow a user turn")
        if index + 1 < len(turns) and turns[index + 1].role != "assistant":
            reason = "a system message must be last, or before an assistant turn"
            yield Problem("A-system-place", turn.path, reason)


def is_hosted(kind: object) -> bool:
    """Whether a block of this type is a hosted tool's call or result."""
    return kind in SERVER_CALLS or str(kind).endswith("_tool_result")


def ends_in_server_result(turn: Turn) -> bool:
    """Whether the last block is a hosted tool's result."""
    return bool(turn.blocks) and str(turn.blocks[-1].kind).endswith("_tool_result")


def signatures(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Thinking is signed."""
    for turn in turns:
        for block in turn.blocks:
            if block.kind == "thinking" and block.fields.get("signature") in ("", UNSIGNED):
                reason = "thinking needs its signature"
                yield Problem("A-signature", f"{block.path}.signature", reason)


def thinking_mode(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Thinking is present or absent as the request's thinking mode demands."""
    config = payload.get("thinking")
    mode = config.get("type") if is_object(config) else None
    final = turns[-1] if turns else None
    if is_idle(payload, model) and final and final.role == "assistant":
        for block in final.blocks:
            if block.kind in THINKING:
                yield Problem(
                    "A-thinking-off", block.path, "the model does not think in this request"
                )
    if mode == "enabled":
        yield from open_loop(turns)


def is_idle(payload: Object, model: Model) -> bool:
    """Whether the model does not think; if it thinks to a budget, it does not without one."""
    config = payload.get("thinking")
    if not is_object(config):
        return model.legacy_thinking
    return config.get("type") == "disabled"


def open_loop(turns: list[Turn]) -> Iterator[Problem]:
    """With extended thinking on, an assistant turn that the model goes on with begins with it.

    That is the one before the results of an unfinished tool loop, or the last turn.
    """
    if turns and turns[-1].role == "assistant":
        blocks = turns[-1].blocks
        if blocks and blocks[0].kind not in THINKING:
            reason = "the turn that the model goes on with must begin with its thinking"
            yield Problem("A-thinking-dropped", turns[-1].path, reason)
        return
    if len(turns) < 2 or turns[-1].role != "user" or turns[-2].role != "assistant":
        return
    calling = turns[-2]
    kinds = [block.kind for block in calling.blocks]
    answered = any(block.kind == "tool_result" for block in turns[-1].blocks)
    if answered and "tool_use" in kinds and kinds[0] not in THINKING:
        reason = "the open tool loop must begin with its thinking"
        yield Problem("A-thinking-dropped", calling.path, reason)


def server_tools(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """A hosted tool's result follows its call."""
    called: dict[str, tuple[int, Block]] = {}
    last_other = -1  # the last turn with more than results of the caller's tools
    for index, turn in enumerate(turns):
        for block in turn.blocks:
            kind = block.kind
            if kind != "tool_result":
                last_other = index
            id = block.fields.get("id")
            if kind in SERVER_CALLS and isinstance(id, str):
                called[id] = (index, block)
            elif kind.endswith("_tool_result"):
                if called.pop(str(block.fields.get("tool_use_id")), None) is None:
                    reason = "a hosted tool's result without its call"
                    yield Problem("A-server-orphan", block.path, reason)
    for id, (index, block) in called.items():
        if last_other > index:
            yield Problem(
                "A-server-open", block.path, f"hosted call {shown(id)} never got its result"
            )


def tools_missing(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """A history with calls but no tools used to be refused, and still is on some hosts."""
    if payload.get("tools") or payload.get("mcp_servers"):
        return
    if any(block.kind == "tool_use" for turn in turns for block in turn.blocks):
        yield Problem(
            "A-tools-missing",
            "tools",
            "the history has tool calls, but no tools are given",
            "warning",
        )


def citations(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Of documents and of search results all are cited, or none."""
    for kind in uneven_sources(block.fields for turn in turns for block in turn.blocks):
        reason = f"citations on all blocks of type {kind}, or on none"
        yield Problem("A-citations", "messages", reason)


def media(turns: list[Turn], payload: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Images and files are base64, and not too large."""
    for turn in turns:
        if turn.kinds.isdisjoint(HOLDERS):
            continue
        for block in turn.blocks:
            if "source" in block.fields:
                yield from source(block.fields, block.path)
            if block.kind == "tool_result":
                for place, inner in objects_in(block.fields.get("content")):
                    yield from source(inner, f"{block.path}.content[{place}]")


HOLDERS = {"image", "document", "tool_result"}
"""Blocks that hold media."""
TOOL_BLOCKS = {"tool_use", "tool_result"}
HOSTED_BLOCKS = {kind for kind in ASSISTANT_KINDS if kind.endswith("_tool_result")} | SERVER_CALLS

TURN_RULES = (
    (TOOL_BLOCKS, pairing),
    (None, contents),
    (None, ends),
    (None, system_turns),
    (None, thinking_mode),
    (THINKING, signatures),
    (HOSTED_BLOCKS, server_tools),
    (TOOL_BLOCKS, tools_missing),
    ({*SOURCES, "tool_result"}, citations),
    (HOLDERS, media),
)
"""Rules about the turns, with the kinds of block that can break them (None: any)."""
