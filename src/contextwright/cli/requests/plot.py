"""A plot of a simulation: for each recipe, the tokens of every request, cached and not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import ceil, log10
from xml.sax.saxutils import escape

from contextwright.context.explain import money
from contextwright.context.simulation.simulate import Row
from contextwright.models import Model
from contextwright.text.terminal import safe

__all__ = ["plot"]

WIDTH, PANEL, LEFT, EDGE, TOP, GAP = 960, 150, 70, 940, 56, 58
CACHED, UNCACHED, INK, FAINT = "#7aa6c2", "#e0703a", "#222222", "#999999"


def plot(rows: Sequence[Row], *, model: Model, budget: int | None) -> str:
    """Return the plot as SVG: one panel per recipe, all on the same scale."""
    most = max((request.tokens for row in rows for request in row.requests), default=1)
    title = f"Tokens of each request, {model.id}"
    height = TOP + len(rows) * (PANEL + GAP)
    scale = nice(max(most, budget or 0))
    panels = (
        panel(row, TOP + place * (PANEL + GAP) + 24, scale, budget)
        for place, row in enumerate(rows)
    )
    drawn = "\n".join(chain.from_iterable(panels))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" \
width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12" fill="{INK}">
<rect width="100%" height="100%" fill="white"/>
<text x="{LEFT}" y="24" font-size="15" font-weight="bold">{words(title)}</text>
<rect x="{LEFT}" y="34" width="12" height="12" fill="{CACHED}"/>
<text x="{LEFT + 18}" y="44">in the previous request's prefix</text>
<rect x="{LEFT + 220}" y="34" width="12" height="12" fill="{UNCACHED}"/>
<text x="{LEFT + 238}" y="44">not cached</text>
{drawn}
</svg>
"""


def panel(row: Row, top: int, scale: int, budget: int | None) -> Iterator[str]:
    """Yield the panel of one recipe."""
    bottom = top + PANEL
    price = "" if row.dollars is None else f", input {money(row.dollars)}"
    title = f"{row.recipe}: {row.share:.1%} of {row.sent:,} tokens in the prefix{price}"
    yield f'<text x="{LEFT}" y="{top - 6}" font-weight="bold">{words(title)}</text>'
    shared = [request.shared for request in row.requests]
    sent = [request.tokens for request in row.requests]
    yield area(sent, UNCACHED, bottom, scale)
    yield area(shared, CACHED, bottom, scale)
    for tokens in (0, scale // 2, scale):
        y = height_of(tokens, bottom, scale)
        yield line(y, f'stroke="{FAINT}" stroke-width="0.5"')
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{tokens:,}</text>'
    if budget is not None:
        y = height_of(budget, bottom, scale)
        yield line(y, f'stroke="{INK}" stroke-dasharray="4 3"')
        yield f'<text x="{EDGE}" y="{y - 4}" text-anchor="end">budget</text>'
    yield f'<text x="{LEFT}" y="{bottom + 16}">1</text>'
    yield f'<text x="{EDGE}" y="{bottom + 16}" text-anchor="end">{len(sent):,} requests</text>'


def line(y: float, stroke: str) -> str:
    """Return a line across a panel."""
    return f'<line x1="{LEFT}" x2="{EDGE}" y1="{y}" y2="{y}" {stroke}/>'


def area(values: Sequence[int], colour: str, bottom: int, scale: int) -> str:
    """Return a filled area of steps of equal width."""
    wide = (EDGE - LEFT) / max(len(values), 1)
    steps = "".join(
        f"V{height_of(value, bottom, scale)}H{round(LEFT + (place + 1) * wide, 2):g}"
        for place, value in enumerate(values)
    )
    return f'<path d="M{LEFT} {bottom}{steps}V{bottom}Z" fill="{colour}"/>'


def height_of(tokens: int, bottom: int, scale: int) -> float:
    """Return the y coordinate of a number of tokens."""
    return round(bottom - PANEL * tokens / scale, 1)


def nice(most: int) -> int:
    """Return the smallest number 1, 2 or 5 × 10ⁿ that is not less than `most`."""
    unit = 10 ** max(ceil(log10(max(most, 1))) - 1, 0)
    return next(step * unit for step in (1, 2, 5, 10) if step * unit >= most)


def words(text: str) -> str:
    """Escape text for SVG."""
    return escape(safe(text, line=True))
