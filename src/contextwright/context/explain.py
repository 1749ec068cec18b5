"""The receipt of a context for people: tokens as bars, decisions in runs, the price."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from math import ceil
from typing import Literal, TypeAlias

from contextwright.context.receipt import Ledger, Receipt
from contextwright.errors import visible
from contextwright.messages.changes import Change
from contextwright.tokens.count import Count

__all__ = ["Style", "explained", "money"]

Style: TypeAlias = Literal["head", "title", "kept", "dropped", "cleared", "plain", "faint"]

BAR = 30
"""Width of a bar that fills the budget, in cells."""
EIGHTHS = " ▏▎▍▌▋▊▉"


def explained(receipt: Receipt) -> Iterator[tuple[Style, str]]:
    """Yield the lines of the table, each with its style."""
    for style, line in lines(receipt):
        yield style, visible(line)


def lines(receipt: Receipt) -> Iterator[tuple[Style, str]]:
    """Yield the lines as they are; a name or a reason in them may have characters of its own."""
    yield "head", head(receipt)
    if receipt.model.matched == "default":
        yield "faint", receipt.model.note
    yield "plain", ""
    yield from tokens(receipt.ledger)
    if receipt.absent:
        yield "plain", ""
        yield "title", "Sections without text"
        width = max(map(len, receipt.absent)) + 1
        for name, reason in receipt.absent.items():
            yield "faint", f"  {name:<{width}} {reason}"
    yield "plain", ""
    yield from messages(receipt)
    if receipt.changes:
        yield "plain", ""
        yield "title", "Changes"
        for line in changed(receipt.changes):
            yield "plain", f"  {line}"
    prices = receipt.model.prices
    if prices.input is not None:
        yield "plain", ""
        fresh = money(receipt.ledger.tokens * prices.input / 1_000_000)
        cached = prices.cache_read
        warm = "" if cached is None else money(receipt.ledger.tokens * cached / 1_000_000)
        more = f", {warm} if all of it comes from the cache" if warm else ""
        yield "title", f"Input price {fresh}{more}"


def head(receipt: Receipt) -> str:
    """Return the request in one line."""
    ledger = receipt.ledger
    count = Count(
        ledger.tokens,
        ledger.exact,
        ledger.bound,
        unseen=ledger.unseen,
        below=ceil(ledger.tokens * (1 + ledger.bound)) - ledger.most,
        at_least=ledger.at_least,
    )
    return f"{receipt.model.id} · {receipt.format} · {count} of {ledger.budget:,}"


def tokens(ledger: Ledger) -> Iterator[tuple[Style, str]]:
    """Return the tokens as bars relative to the budget; sections one by one."""
    yield "title", "Tokens"
    named = {**ledger.sections, "tools": ledger.tools}
    notes = {"notes": ledger.notes} if ledger.notes else {}
    named |= {"history": ledger.history, **notes, "wrappers": ledger.wrappers}
    width = max(map(len, named)) + 1
    for name, number in named.items():
        line = f"  {name:<{width}}{number:>10,}{share(number, ledger.budget):>6}  "
        yield "plain", (line + bar(number, ledger.budget)).rstrip()
    doubt = ledger.most - ledger.tokens
    if doubt:
        line = f"  {'in doubt':<{width}}{doubt:>10,}{share(doubt, ledger.budget):>6}"
        yield "faint", f"{line}  margin of the estimate"
    free = ledger.budget - ledger.most
    yield "faint", f"  {'free':<{width}}{free:>10,}{share(free, ledger.budget):>6}"


def messages(receipt: Receipt) -> Iterator[tuple[Style, str]]:
    """Return the decisions, in runs."""
    decisions = receipt.decisions
    counted: Counter[str] = Counter()
    for run in decisions.runs:
        counted[run.action] += run.stop - run.start
    fates = ", ".join(f"{number:,} {action}" for action, number in counted.items())
    yield "title", f"Messages: {fates or 'none'}"
    rows: list[tuple[str, str, str, str]] = []
    for run in decisions.runs:
        cost = decisions.run_tokens(run)
        last = f"–{run.stop}" if run.stop - run.start > 1 else ""  # numbered as in a store
        places = f"{run.start + 1}{last}"
        rows.append((run.action, "" if cost is None else f"{cost:,}", places, run.reason))
    width = max((len(places) for _, _, places, _ in rows), default=0)
    for action, price, places, reason in rows:
        style: Style = action if action in ("kept", "dropped", "cleared") else "plain"
        yield (
            style,
            f"  {SIGNS.get(action, '·')} {action:<11}{price:>6}  {places:<{width}}  {reason}",
        )


def changed(changes: Iterable[Change]) -> Iterator[str]:
    """Return the changes; those of one kind and reason on one line."""
    alike: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        alike.setdefault((change.code, change.reason), []).append(change)
    for (code, reason), found in alike.items():
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        yield f"{code} {in_words(found[0].path)}{more}: {reason}"


def in_words(path: str) -> str:
    """Return a path with messages counted from 1: `messages[3].parts[0]` → `message 4.parts[0]`."""
    return MESSAGE.sub(lambda found: f"message {int(found[1]) + 1}", path)


MESSAGE = re.compile(r"^messages\[(\d+)\]")
SIGNS = {"kept": "+", "dropped": "-", "cleared": "~", "summarised": "≈"}


def share(part: int, whole: int) -> str:
    """Return a share in per cent."""
    return f"{part / whole:.0%}" if whole else ""


def bar(part: int, whole: int) -> str:
    """Return a share as a bar, in eighths of a cell; never more than the whole."""
    eighths = round(min(part / whole, 1) * BAR * 8) if whole else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def money(dollars: float, least: float | None = None) -> str:
    """Format dollars with the digits that small sums need; `least` is the smallest of a column."""
    size = dollars if least is None else least
    digits = 6
    if size >= 10:
        digits = 2
    elif size >= 0.01:
        digits = 4
    return f"${dollars:,.{digits}f}"
