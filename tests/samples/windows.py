"""Histories, and what windows keep of them."""

from __future__ import annotations

from collections.abc import Iterable

import contextwright as cw
from contextwright.windows import decide
from contextwright.windows.clearing import Clearing
from contextwright.windows.decisions import Decisions, Span
from contextwright.windows.history import History, View
from contextwright.windows.log import Log
from contextwright.windows.policies import Window
from strategies.windows import price


class From(Window):
    """Keeps what follows an index, and a task before it, whatever they cost."""

    def __init__(self, start: int, task: Iterable[int] = ()) -> None:
        self.start, self.task = start, task

    def spans(self, view: View, limit: float) -> list[Span]:
        task = [Span(index, index + 1, "task", True) for index in self.task if index < self.start]
        return [*task, Span(self.start, view.count, "recent")]


def decided(
    messages: Iterable[cw.Message] | Log,
    window: Window,
    limit: int = 10**9,
    clearing: Clearing | None = None,
    *,
    skip_system: bool = False,
) -> Decisions:
    """What a window decides about messages that cost a token a letter."""
    history = History(messages, price=price, clearing=clearing, skip_system=skip_system)
    return decide(window, history.view(), limit)


def cost(decisions: Decisions) -> float:
    """What is sent costs, without the media that a draft leaves out as too many."""
    return sum(decisions.view.price(index) for index in decisions.kept())
