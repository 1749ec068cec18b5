"""Cache marks, which tell a provider which part of a prompt will be sent again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from operator import is_not
from typing import Any, TypeAlias, cast

from msgspec import Struct

from contextwright.context.receipt import CACHE_MARKS
from contextwright.messages.changes import Change
from contextwright.models import Model
from contextwright.text.json import encode_json
from contextwright.wire.openai_chat.dialects import takes_cache_control
from contextwright.wire.values import is_object

__all__ = ["LOOKBACK", "CacheBreakpoints", "mark_cache"]

ANTHROPIC = {"cache_control": {"type": "ephemeral"}}
OPENAI = {"prompt_cache_breakpoint": {"mode": "explicit"}}
MOST = 4
"""Maximum number of marks that Anthropic accepts."""
LOOKBACK = 20
"""Maximum blocks before a mark in which Anthropic looks for an earlier cache entry."""
UNMARKABLE = ("thinking", "redacted_thinking")
MARKABLE_PARTS = (
    "text", "image_url", "input_audio", "file", "input_text", "input_image", "input_file",
)  # fmt: skip

Block: TypeAlias = dict[str, Any]
Spot: TypeAlias = tuple[list[Block], int]
"""A list of blocks, and the index of the block that ends a stable prefix."""


class CacheBreakpoints(Struct, frozen=True):
    """The places where a prompt changes."""

    volatile: str
    """The text after the newest question's own text, which is not there on the next turn."""
    static: Sequence[str]
    """The first texts of the system text, which never change."""
    key: str | None
    """The name of the conversation."""
    cleared: Sequence[str] = ()
    """The stubs of the newest result or media that was cleared, now and before the last step of
    clearing: everything before them stays the same when clearing continues."""


def mark_cache(
    payload: dict[str, Any],
    format: str,
    model: Model,
    boundaries: CacheBreakpoints,
    *,
    set_marks: bool,
    marked: bool,
) -> list[Change]:
    """Mark the ends of stable prefixes in a request under construction.

    Marks that came with the messages belonged to older requests, and are removed.
    """
    changes: list[Change] = []
    if marked and format in TURNS and remove_marks(payload, TURNS[format]):
        reason = "it ended what an older request had in common with the next"
        changes.append(Change("loss.cache_mark", "messages", reason))
    if format == "anthropic":
        if set_marks:
            mark_anthropic(payload, boundaries)
    elif set_marks and takes_cache_control(format, model):
        mark_routed(payload, boundaries.volatile)
    elif set_marks and format in TURNS and model.provider == "openai":
        key = boundaries.key or derived_key(payload, boundaries.static)
        if key:
            payload["prompt_cache_key"] = key[:64]
        if model.cache_breakpoints:
            mark_openai(payload, TURNS[format], boundaries.volatile)
    return changes


TURNS = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input"}


# --- Anthropic -------------------------------------------------------------------------------


def mark_anthropic(payload: dict[str, Any], boundaries: CacheBreakpoints) -> None:
    """Set at most four marks, never on thinking: on the first four spots where they pay.

    They replace the automatic mark of a request that came with a cache key, which would be a fifth.
    """
    payload.pop("cache_control", None)
    spots: dict[tuple[int, int], Spot] = {}
    for blocks, index in anthropic_spots(payload, boundaries):
        while index >= 0 and not is_markable(blocks[index]):
            index -= 1
        if index >= 0:
            spots.setdefault((id(blocks), index), (blocks, index))
    for blocks, index in islice(spots.values(), MOST):
        blocks[index] = {**blocks[index], **ANTHROPIC}


def is_markable(block: Block) -> bool:
    """Whether a block or tool may be marked; a tool that is loaded later is not in the prefix."""
    return block.get("type") not in UNMARKABLE and block.get("defer_loading") is not True


def anthropic_spots(payload: dict[str, Any], boundaries: CacheBreakpoints) -> Iterator[Spot]:
    """Return the places where a mark pays, the most worthwhile first."""
    turns = cast("list[Block]", payload.get("messages") or [])
    system = cast("list[Block]", payload.get("system") or [])
    contents = [cast("list[Block]", turn["content"]) for turn in turns]
    beside = found(contents, boundaries.volatile)
    if contents and (beside is None or beside[0] < len(turns) - 1):
        yield contents[-1], len(contents[-1]) - 1
    yield system, len(system) - 1
    stop = len(contents)
    for text in boundaries.cleared:
        cleared = found(contents[:stop], text)
        if cleared is not None:
            stop = cleared[0]
            yield contents[stop], len(contents[stop]) - 1
    if beside is not None:
        # What follows volatile text is read again once that text has changed.
        turn, block = beside
        yield contents[turn], block - 1
        before = [index for index in range(turn) if is_question(turns[index])]
        if before:
            yield contents[before[-1]], len(contents[before[-1]]) - 1
    if len(turns) > 2 and len(contents[-1]) + len(contents[-2]) > LOOKBACK:
        # The previous request ended here, further back than the provider looks.
        yield contents[-3], len(contents[-3]) - 1
    static = len(boundaries.static)
    if [block.get("text") for block in system[:static]] == boundaries.static:
        yield system, static - 1
    tools = cast("list[Block]", payload.get("tools") or [])
    yield tools, len(tools) - 1


def is_question(turn: Block) -> bool:
    """Whether a turn ends with user text."""
    return turn["role"] == "user" and turn["content"][-1].get("type") != "tool_result"


def found(contents: Sequence[Any], text: str) -> tuple[int, int] | None:
    """Return the turn and block of the last occurrence of a text."""
    if not text:
        return None
    for turn in range(len(contents) - 1, -1, -1):
        blocks = contents[turn]
        if isinstance(blocks, list):
            for index, block in enumerate(cast("list[Block]", blocks)):
                if text in (block.get("text"), block.get("content")):
                    return turn, index
    return None


def remove_marks(payload: dict[str, Any], field: str) -> bool:
    """Remove the marks of older requests; return whether there were any."""
    removed = False
    for name in ("tools", "system", field):
        blocks = payload.get(name)
        if isinstance(blocks, list):
            bare = [without_mark(block) for block in cast("list[Block]", blocks)]
            removed = removed or any(map(is_not, bare, cast("list[Block]", blocks)))
            payload[name] = bare
    return removed


def without_mark(block: Block) -> Block:
    """Return a block or turn without its marks and those of inner blocks; unchanged if none."""
    if not is_object(block):
        return block
    for name in ("content", "output"):
        inner = block.get(name)
        if isinstance(inner, list):
            bare = [without_mark(each) for each in cast("list[Block]", inner)]
            if any(map(is_not, bare, cast("list[Block]", inner))):
                block = {**block, name: bare}
    if any(mark in block for mark in CACHE_MARKS):
        return {key: value for key, value in block.items() if key not in CACHE_MARKS}
    return block


# --- OpenAI, and Claude behind a router ------------------------------------------------------


def derived_key(payload: dict[str, Any], static: Sequence[str]) -> str | None:
    """Return a key for a conversation without a name: the same for all with the same beginning.

    Returns None if nothing is known to repeat, because the key would group unrelated requests.
    """
    tools = payload.get("tools")
    if not static and not tools:
        return None
    words = "\0".join(static).encode(errors="surrogatepass")
    return sha256(words + encode_json(tools)).hexdigest()[:32]


def mark_routed(payload: dict[str, Any], volatile: str) -> None:
    """Set at most four marks: those for OpenAI, and one at the end, where OpenAI has its own."""
    turns = cast("list[Block]", payload["messages"])
    for turn in turns:
        as_parts(turn, "messages", (*WORDS_OF, "tool"))
    mark_openai(payload, "messages", volatile, ANTHROPIC)
    ends = [turn for turn in turns if turn.get("role") in ("user", "tool")]
    if ends and found([ends[-1]["content"]], volatile) is None:
        mark_part(ends[-1], "messages", mark=ANTHROPIC)


def mark_openai(payload: dict[str, Any], field: str, volatile: str, mark: Block = OPENAI) -> None:
    """Set at most three marks besides the provider's own, which is at the very end.

    They end the leading system text (not in Responses, where it is a string), and if volatile text
    follows, the stable part of the newest question and the one before.
    """
    turns = cast("list[Block]", payload.get(field) or [])
    leading = -1
    while leading + 1 < len(turns) and turns[leading + 1].get("role") in ("system", "developer"):
        leading += 1
    if leading >= 0:
        mark_part(turns[leading], field, mark=mark)
    beside = found([turn.get("content") for turn in turns], volatile)
    if beside is None:
        return
    for turn in turns:
        # A mark needs a list of parts; convert every such text, so that moving a mark changes no
        # bytes.
        as_parts(turn, field)
    turn, block = beside
    if block > 0:
        mark_part(turns[turn], field, block - 1, mark)
    for earlier in reversed(turns[:turn]):
        if earlier.get("role") == "user":
            mark_part(earlier, field, mark=mark)
            break


def mark_part(turn: Block, field: str, index: int = -1, mark: Block = OPENAI) -> None:
    """Mark a part of a message; a plain string becomes a part."""
    as_parts(turn, field)
    parts = cast("list[Block]", turn.get("content") or [])
    if parts and parts[index].get("type") in MARKABLE_PARTS:
        parts = list(parts)
        parts[index] = {**parts[index], **mark}
        turn["content"] = parts


WORDS_OF = ("user", "system", "developer")


def as_parts(turn: Block, field: str, roles: Sequence[str] = WORDS_OF) -> None:
    """Turn a plain string of a message of one of these roles into a list of one part."""
    content = turn.get("content")
    if content and isinstance(content, str) and turn.get("role") in roles:
        turn["content"] = [
            {"type": "text" if field == "messages" else "input_text", "text": content}
        ]
