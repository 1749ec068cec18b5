"""The thinking that a Messages request asks for: written, and made legal."""

from __future__ import annotations

from typing import Any

from contextwright.formats.reader import plain
from contextwright.formats.settings import (
    BUDGETS,
    FREE,
    dig,
    effort_of,
    nearest_effort,
    put,
    take_out,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Effort, Settings
from contextwright.models import Model
from contextwright.wire.anthropic.rules import MIN_THINKING_BUDGET, idle_edits
from contextwright.wire.anthropic.turns import THINKING, open_loop, turns_of
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import is_object

__all__ = [
    "DEFAULT_MAX_TOKENS",
    "invented_limit",
    "leave_out_final_thinking",
    "room_for",
    "settle_edits",
    "settle_open_loop",
    "settle_thinking",
    "write_thinking",
]

LEAST: Effort = "low"
USUAL: Effort = "medium"
"""The effort for a model that cannot choose its own."""
DEFAULT_MAX_TOKENS = 4_096
"""The output limit to use if the caller sets none, because the API requires one."""


def write_thinking(
    settings: Settings, model: Model, wire: dict[str, Any], changes: list[Change]
) -> None:
    """Write the thinking setting: an effort for adaptive models, a token budget for others."""
    effort, free = effort_of(settings), settings.thinking_budget == FREE
    if effort is None and not free and not settings.show_thinking:
        return
    if effort == "none":
        write_no_thinking(model, wire, changes)
    elif model.adaptive_thinking:
        write_adaptive(effort, settings.show_thinking, model, wire, changes)
    elif not model.legacy_thinking:
        changes.append(Change("loss.setting", "effort", f"{model.id} does not think"))
    elif effort is not None:
        budget = settings.thinking_budget
        write_budget(BUDGETS[effort] if free or not budget else budget, model, wire, changes)
    elif free:
        reason = f"{model.id} thinks within a budget; using {BUDGETS[USUAL]:,}"
        changes.append(Change("repair.setting", "thinking_budget", reason))
        write_budget(BUDGETS[USUAL], model, wire, changes)
    else:
        reason = f"{model.id} thinks only with an explicit budget"
        changes.append(Change("loss.setting", "show_thinking", reason))


def write_no_thinking(model: Model, wire: dict[str, Any], changes: list[Change]) -> None:
    """Turn thinking off, or down to the least effort for a model that always thinks."""
    if model.always_thinks or not model.disable_thinking:
        put(wire, "output_config.effort", LEAST)
        reason = f"{model.id} always thinks; {LEAST} is the minimum"
        changes.append(Change("repair.setting", "effort", reason))
    elif model.adaptive_thinking or model.legacy_thinking:
        wire["thinking"] = {"type": "disabled"}


def write_adaptive(
    effort: Effort | None,
    show: bool | None,
    model: Model,
    wire: dict[str, Any],
    changes: list[Change],
) -> None:
    """Write adaptive thinking, with an effort if there is one."""
    wire["thinking"] = {"type": "adaptive"}
    if show is not None:
        wire["thinking"]["display"] = "summarized" if show else "omitted"
    if effort is not None:
        put(wire, "output_config.effort", nearest_effort(effort, model.efforts, changes))


def write_budget(budget: int, model: Model, wire: dict[str, Any], changes: list[Change]) -> None:
    """Write a thinking budget. It counts towards `max_tokens`."""
    wanted = max(budget, MIN_THINKING_BUDGET)
    if "max_tokens" not in wire:
        wire["max_tokens"] = room_for(wanted + DEFAULT_MAX_TOKENS, model)
        changes.append(invented_limit(wire["max_tokens"]))
    limit = wire["max_tokens"]
    # A quarter is left for the answer.
    fitted = wanted if wanted < limit else max(limit * 3 // 4, MIN_THINKING_BUDGET)
    if fitted >= limit:
        changes.append(Change("loss.setting", "effort", "max_tokens leaves no room to think"))
        return
    if fitted < wanted:
        reason = f"max_tokens is {limit:,}; a thinking budget of {fitted:,}, not {wanted:,}"
        changes.append(Change("repair.setting", "effort", reason))
    elif fitted > budget:
        reason = f"raised to {fitted:,} tokens, the least allowed"
        changes.append(Change("repair.setting", "effort", reason))
    wire["thinking"] = {"type": "enabled", "budget_tokens": fitted}


def invented_limit(tokens: int) -> Change:
    """Return the change for an output limit that the caller did not set."""
    reason = f"required by this API and not set; using {tokens:,}"
    return Change("invent.max_tokens", "max_tokens", reason)


def settle_thinking(body: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """Use the thinking mode the model has. Disable it if the open tool loop lost its thinking."""
    if dig(body, "thinking.type") == "adaptive" and is_known(model) and not model.adaptive_thinking:
        del body["thinking"]
        reason = f"{model.id} does not think adaptively"
        changes.append(Change("repair.setting", "thinking", reason))
        if model.legacy_thinking:
            write_budget(BUDGETS[USUAL], model, body, changes)
    thinking = body.get("thinking")
    if not is_object(thinking):
        return
    mode = thinking.get("type")
    if mode == "enabled" and not model.legacy_thinking and is_known(model):
        if model.adaptive_thinking:
            body["thinking"] = {"type": "adaptive"}
            changes.append(Change("repair.setting", "thinking", f"{model.id} thinks adaptively"))
        else:
            del body["thinking"]
            changes.append(Change("loss.setting", "thinking", f"{model.id} does not think"))
    elif mode == "enabled" and not settle_open_loop(body, model, changes):
        settle_budget(body, thinking, changes)
    elif mode == "disabled" and not model.disable_thinking:
        del body["thinking"]
        changes.append(Change("loss.setting", "thinking", f"{model.id} always thinks"))


def settle_open_loop(body: dict[str, Any], model: Model, changes: list[Change]) -> bool:
    """Disable extended thinking if the open tool loop lost its thinking; return whether it did."""
    thinks = dig(body, "thinking.type") == "enabled"
    if not thinks or not any(open_loop(turns_of(objects_in(body.get("messages"))))):
        return False
    del body["thinking"]
    reason = "the turn that the model goes on with does not begin with thinking"
    changes.append(Change("loss.setting", "thinking", reason))
    settle_edits(body, model, changes)
    return True


def settle_edits(body: dict[str, Any], model: Model, changes: list[Change]) -> None:
    """Leave out the edits that clear thinking where the model does not think: the API refuses them.

    Claude Code asks for them with every request.
    """
    problems = {problem.path: problem.message for problem in idle_edits(body, model)}
    if not problems:
        return
    path = "context_management.edits"
    edits: list[Any] = dig(body, path)
    kept = [edit for index, edit in enumerate(edits) if f"{path}[{index}]" not in problems]
    if kept:
        put(body, path, kept)
    else:
        take_out(body, path)
    changes.append(Change("loss.setting", path, next(iter(problems.values()))))


def leave_out_final_thinking(body: dict[str, Any], changes: list[Change]) -> None:
    """Leave thinking out of the turn that a model continues without thinking."""
    messages: list[dict[str, Any]] = body["messages"]
    end = len(messages)
    while end > 0 and messages[end - 1]["role"] == "assistant":
        end -= 1
        blocks = messages[end]["content"]
        kept = [block for block in blocks if block.get("type") not in THINKING]
        if len(kept) < len(blocks):
            reason = "the model does not think in this request"
            changes.append(Change("loss.thinking", f"messages[{end}]", reason))
            messages[end : end + 1] = [{**messages[end], "content": kept}] if kept else []


def settle_budget(body: dict[str, Any], thinking: dict[str, Any], changes: list[Change]) -> None:
    """Keep a thinking budget between the least the API takes and `max_tokens`."""
    budget, limit = plain(thinking.get("budget_tokens"), int) or 0, body["max_tokens"]
    if MIN_THINKING_BUDGET <= budget < limit:
        return
    if limit <= MIN_THINKING_BUDGET:
        del body["thinking"]
        changes.append(Change("loss.setting", "thinking", "max_tokens leaves no room to think"))
        return
    fitted = max(MIN_THINKING_BUDGET, min(budget, limit - 1))
    body["thinking"] = {**thinking, "budget_tokens": fitted}
    reason = f"a budget of {fitted:,}: at least {MIN_THINKING_BUDGET:,}, and less than max_tokens"
    changes.append(Change("repair.setting", "thinking", reason))


def room_for(tokens: int, model: Model) -> int:
    """Return an output limit, lowered to the most that the model can write."""
    return min(tokens, model.max_output or tokens)


def is_known(model: Model) -> bool:
    """Whether the model's facts come from its own row or line, not from the whole family."""
    return model.matched != "default"
