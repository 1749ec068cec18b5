"""Citations, references to tools and JSON output of a Messages request, made legal."""

from __future__ import annotations

from typing import Any

from contextwright.formats.base import without
from contextwright.formats.settings import take_out
from contextwright.messages.changes import Change
from contextwright.wire.anthropic.citations import uneven_sources
from contextwright.wire.anthropic.hosted import defined_names, reference_problems, undefined
from contextwright.wire.anthropic.output import output_path, output_problems
from contextwright.wire.anthropic.turns import turns_of
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import is_list, is_object

__all__ = ["settle_citations", "settle_output", "settle_references"]


def settle_output(body: dict[str, Any], changes: list[Change]) -> None:
    """Leave out JSON output where the messages rule it out."""
    if output_path(body) is None:
        return
    turns = turns_of(objects_in(body.get("messages")))
    while problem := next(output_problems(turns, body), None):
        take_out(body, problem.path)
        changes.append(Change("loss.setting", "output", problem.message))


def settle_citations(contents: list[list[dict[str, Any]]], changes: list[Change]) -> None:
    """Enable citations on every source of a kind if one has them: the API wants all or none."""
    uneven = uneven_sources(block for blocks in contents for block in blocks)
    if not uneven:
        return
    for blocks in contents:
        blocks[:] = with_citations(blocks, uneven)
    for kind in uneven:
        reason = f"enabled on all blocks of type {kind}, because one has them"
        changes.append(Change("repair.citations", "messages", reason))


def settle_references(
    body: dict[str, Any], contents: list[list[dict[str, Any]]], changes: list[Change]
) -> None:
    """Write the names of tools in place of references to those that are not defined."""
    names = defined_names(body)
    if names is None or not any(
        any(undefined(block, names)) for blocks in contents for block in blocks
    ):
        return
    for problem in reference_problems(body):
        changes.append(Change("loss.opaque", problem.path, problem.message))
    for blocks in contents:
        blocks[:] = [without_references(block, names) for block in blocks]


def without_references(block: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return a result with names in place of references; that of a hosted search holds no text."""
    lost = {index: name for _, index, name in undefined(block, names)}
    if not lost:
        return block
    content = block["content"]
    if is_object(content):
        given = enumerate(content["tool_references"])
        kept = [one for index, one in given if index not in lost]
        return {**block, "content": {**content, "tool_references": kept}}
    texts: list[Any] = list(content)
    for index, name in lost.items():
        rest = without(content[index], "tool_name")
        texts[index] = {**rest, "type": "text", "text": name.strip() or "?"}
    return {**block, "content": texts}


def with_citations(blocks: list[dict[str, Any]], kinds: list[str]) -> list[dict[str, Any]]:
    """Return the blocks with citations on sources of these kinds, also within tool results."""
    cited: list[dict[str, Any]] = []
    for block in blocks:
        kind = block.get("type") if is_object(block) else None
        if kind in kinds:
            block = {**block, "citations": {"enabled": True}}
        elif kind == "tool_result" and is_list(held := block.get("content")):
            block = {**block, "content": with_citations(held, kinds)}
        cited.append(block)
    return cited
